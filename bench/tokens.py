"""Token requests per second, compared with Authlib's own example: `python -m bench.tokens [ROUNDS] [SECONDS]`.

Both servers run behind gunicorn with 2 workers on SQLite. wrk measures them alternately, so that other load on the
machine affects both.
"""

import base64
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import authlib_example
from bench.servers import CONNECTIONS, Server, gunicorn
from photosvc.app import create_app
from photosvc.auth.clients import register
from photosvc.auth.scopes import parse_scope
from photosvc.models import schema
from photosvc.web.auditing import operating
from photosvc.web.service import current_service

_FORM = "grant_type=client_credentials&scope=photos"


@dataclass(frozen=True, slots=True)
class TokenServer:
    """A running server with a token endpoint."""

    name: str
    server: Server
    path: str
    authorization: str

    def rate(self, script: Path, seconds: int) -> float:
        """Tokens per second."""
        return self.server.rate(self.path, seconds, {"Authorization": self.authorization}, script=script)


@contextmanager
def ours(folder: Path, token_format: str) -> Iterator[TokenServer]:
    app = create_app(instance=folder, environ={})
    with app.app_context():
        service = current_service()
        schema.upgrade(service.engine())
        scope = parse_scope("photos metrics")
        with operating() as operation:
            made = register(operation, name="bench", scope=scope, token_format=token_format)
            pair = f"{made.client.uid}:{made.secret}"
    environ = {"PHOTOSVC_INSTANCE": str(folder), "PHOTOSVC_BASE_URL": "https://photos.example.org"}
    with gunicorn("photosvc.app:create_app()", folder / "log", **environ) as server:
        yield TokenServer(f"photosvc, {token_format}", server, "/api/v1/oauth/token", basic(pair))


@contextmanager
def peer(folder: Path) -> Iterator[TokenServer]:
    uri = f"sqlite:///{folder / 'peer.db'}"
    with authlib_example.create_app(uri).app_context():
        secret = "s" * 32
        client = authlib_example.Client(
            client_id="bench", client_secret=authlib_example.digest(secret), scope="photos metrics"
        )
        authlib_example.db.session.add(client)
        authlib_example.db.session.commit()
    with gunicorn("bench.authlib_example:create_app()", folder / "log", "/", PEER_DATABASE=uri) as server:
        yield TokenServer("Authlib's example", server, "/oauth/token", basic(f"bench:{secret}"))


def basic(pair: str) -> str:
    return "Basic " + base64.b64encode(pair.encode()).decode()


def main(rounds: int = 5, seconds: int = 5) -> None:
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(4)]
        script = folders[3] / "post.lua"
        script.write_text(
            f"wrk.method = 'POST'\nwrk.body = '{_FORM}'\n"
            "wrk.headers['Content-Type'] = 'application/x-www-form-urlencoded'\n"
        )
        servers = [
            stack.enter_context(peer(folders[0])),
            stack.enter_context(ours(folders[1], "opaque")),
            stack.enter_context(ours(folders[2], "jwt")),
        ]
        for server in servers:
            server.rate(script, 1)
        rates = [[server.rate(script, seconds) for server in servers] for _ in range(rounds)]
    print(f"{rounds} rounds of {seconds} s, {CONNECTIONS} connections, 2 workers\n")
    for number, server in enumerate(servers):
        found = [row[number] for row in rates]
        ratios = [row[number] / row[0] for row in rates]
        print(
            f"{server.name:20} {statistics.median(found):7.0f} tokens/s ({min(found):.0f} to {max(found):.0f}), "
            f"{statistics.median(ratios):.2f} times the example ({min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
