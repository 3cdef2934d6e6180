"""Token round trips a second, beside Authlib's own example: `python -m bench.oauth [ROUNDS] [SECONDS]`.

Both servers stand behind gunicorn with 2 workers on SQLite; wrk asks them in turn, so that a busy machine hurts both.
"""

import base64
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import oauth_peer
from photosvc.app import create_app
from photosvc.auth.clients import register
from photosvc.auth.scopes import parse_scope
from photosvc.models import migrate
from photosvc.web.current import current_service

_FORM = "grant_type=client_credentials&scope=photos"
_CONNECTIONS = 8


@dataclass(frozen=True, slots=True)
class Contender:
    """A server that waits for requests."""

    name: str
    url: str
    authorization: str

    def rate(self, script: Path, seconds: int) -> float:
        """Answers a second; all of them must be 2xx."""
        command = ["wrk", "-t1", f"-c{_CONNECTIONS}", f"-d{seconds}s", "-s", str(script), self.url]
        environ = {**os.environ, "AUTHORIZATION": self.authorization}
        told = subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in told or "Socket errors" in told:
            raise RuntimeError(told)
        return float(re.search(r"Requests/sec: +([\d.]+)", told)[1])


@contextmanager
def gunicorn(target: str, ready: str, folder: Path, **environ: str) -> Iterator[str]:
    """The address of a server of `target`, once `ready` answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", "gunicorn", "--bind", address, "--workers", "2", "--no-control-socket", target]
    with (folder / "gunicorn.log").open("wb") as log:
        server = subprocess.Popen(command, env={**os.environ, **environ}, stdout=log, stderr=log)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://{address}{ready}", timeout=5).close()
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.1)
            else:
                break
        yield f"http://{address}"
    finally:
        server.terminate()
        server.wait()


@contextmanager
def ours(folder: Path, token_format: str) -> Iterator[Contender]:
    app = create_app(instance=folder, environ={})
    with app.app_context():
        service = current_service()
        migrate.upgrade(service.engine())
        made = register(
            service.session,
            service.now(),
            name="bench",
            scope=parse_scope("photos metrics"),
            token_format=token_format,
        )
        pair = f"{made.client.uid}:{made.secret}"
        service.session.commit()
    with gunicorn("photosvc.app:create_app()", "/api/v1/status", folder, PHOTOSVC_INSTANCE=str(folder)) as address:
        yield Contender(f"photosvc, {token_format}", f"{address}/api/v1/oauth/token", basic(pair))


@contextmanager
def peer(folder: Path) -> Iterator[Contender]:
    uri = f"sqlite:///{folder / 'peer.db'}"
    with oauth_peer.create_app(uri).app_context():
        secret = "s" * 32
        client = oauth_peer.Client(client_id="bench", client_secret=oauth_peer.digest(secret), scope="photos metrics")
        oauth_peer.db.session.add(client)
        oauth_peer.db.session.commit()
    with gunicorn("bench.oauth_peer:create_app()", "/", folder, PEER_DATABASE=uri) as address:
        yield Contender("Authlib's example", f"{address}/oauth/token", basic(f"bench:{secret}"))


def basic(pair: str) -> str:
    return "Basic " + base64.b64encode(pair.encode()).decode()


def main(rounds: int = 5, seconds: int = 5) -> None:
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(4)]
        script = folders[3] / "post.lua"
        script.write_text(
            f"wrk.method = 'POST'\nwrk.body = '{_FORM}'\n"
            "wrk.headers['Content-Type'] = 'application/x-www-form-urlencoded'\n"
            "wrk.headers['Authorization'] = os.getenv('AUTHORIZATION')\n"
        )
        contenders = [
            stack.enter_context(peer(folders[0])),
            stack.enter_context(ours(folders[1], "opaque")),
            stack.enter_context(ours(folders[2], "jwt")),
        ]
        for contender in contenders:
            contender.rate(script, 1)
        rates = [[contender.rate(script, seconds) for contender in contenders] for _ in range(rounds)]
    print(f"{rounds} rounds of {seconds} s, {_CONNECTIONS} connections, 2 workers\n")
    for number, contender in enumerate(contenders):
        found = [row[number] for row in rates]
        ratios = [row[number] / row[0] for row in rates]
        print(
            f"{contender.name:20} {statistics.median(found):7.0f} tokens/s ({min(found):.0f} to {max(found):.0f}), "
            f"{statistics.median(ratios):.2f} times the example ({min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
