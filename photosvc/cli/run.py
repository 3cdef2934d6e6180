"""`svc run`: from an empty folder to a running service."""

import ipaddress
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from photosvc.cli.group import PlainError, find_app

if TYPE_CHECKING:
    from photosvc.web.current import Service


@click.command()
@click.option(
    "--photos",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of originals; by default PHOTOSVC_ORIGINALS, else the bundled samples.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8080, show_default=True, help="Port to listen on.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Server processes.")
@click.option("--watch/--no-watch", default=True, show_default=True, help="Index what changes while it runs.")
def run(photos: Path | None, host: str, port: int, workers: int, watch: bool) -> None:
    """Migrate, index, create a token, serve, and watch the originals.

    Running it again is quick and safe: unchanged photos are not opened, and the token stays the same.
    """
    from photosvc import samples
    from photosvc.web.current import current_service

    _check_free(host, port)
    if photos is not None:
        os.environ["PHOTOSVC_ORIGINALS"] = str(photos.absolute())
    os.environ.setdefault("PHOTOSVC_BASE_URL", f"http://{_client_host(host)}:{port}")
    app = find_app(click.get_current_context())
    with app.app_context():
        service = current_service()
        settings = service.settings
        if settings.origins["originals"] == "default" and not settings.originals.is_dir():
            service.settings = replace(settings, originals=samples.ORIGINALS)
            os.environ["PHOTOSVC_ORIGINALS"] = str(samples.ORIGINALS)
        token = _prepare(service, Path(app.instance_path))
    click.echo(f"\nSearch it:\n\n  curl -H 'X-Auth-Token: {token}' '{settings.base_url}/api/v1/photos?count=3'\n")
    sys.stdout.flush()
    if not (settings.proxies or _is_loopback(host)):
        click.echo(
            f"Warning: it accepts requests from other machines on {host} without a proxy in front, so that passwords, "
            "tokens and pictures travel unencrypted. Put nginx in front (docs/quick-start.md) and set "
            "PHOTOSVC_PROXIES=1, or listen on 127.0.0.1.",
            err=True,
        )
    if watch:
        _start_watcher()
    target = "photosvc.app:create_app()"
    options = ["--bind", f"{host}:{port}", "--workers", str(workers), "--threads", "8", "--limit-request-line", "8190"]
    options += ["--no-control-socket", "--worker-class", "photosvc.serving.Worker"]
    os.execv(sys.executable, [sys.executable, "-m", "gunicorn", *options, target])  # noqa: S606 - our own interpreter


def _start_watcher() -> None:
    """A process of its own, so that indexing takes no time from requests; it ends with this process, the server."""
    program = "from photosvc.main import main; main()"
    command = [sys.executable, "-c", program, "watch", "--parent", str(os.getpid())]
    subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - our own interpreter


def _prepare(service: "Service", instance: Path) -> str:
    """Migrate and index; gives the token."""
    from photosvc.cli.index import run_and_report
    from photosvc.models import migrate

    migrate.upgrade(service.engine())
    service.require_schema()
    run_and_report(service)
    return _lasting_token(service, instance / "run_token")


def _lasting_token(service: "Service", path: Path) -> str:
    """The token of the last run if it is still valid, else a new one; stored in a file with mode 0600."""
    from photosvc.auth.audit import described
    from photosvc.auth.audit.events import Event
    from photosvc.auth.credentials import bearer, tokens
    from photosvc.auth.errors import InvalidTokenError
    from photosvc.auth.scopes import parse_scope
    from photosvc.core.paths import read_or_create
    from photosvc.web import auditing

    if path.exists():
        token = path.read_text("ascii").strip()
        try:
            with service.reading() as connection:
                tokens.verify(connection, token, service.now())
        except InvalidTokenError:
            path.unlink()
        else:
            return token
    with service.writing() as session:
        issued = bearer.issue(session, service.now(), name="svc run", scope=parse_scope("photos albums"))
        made = issued.credential
        auditing.record(session, Event.CREDENTIAL_MADE, target=made.uid, detail=described.credential(made))
    return read_or_create(path, lambda: issued.secret)


def _check_free(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            msg = f"Cannot listen on {host}:{port} ({(error.strerror or str(error)).lower()}); choose another --port."
            raise PlainError(msg, 1) from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _client_host(host: str) -> str:
    """The host name by which clients on this machine reach a server that listens on `host`."""
    return "localhost" if host in {"0.0.0.0", "::", "127.0.0.1"} else host  # noqa: S104 - compared, not bound
