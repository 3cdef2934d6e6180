"""`svc run`: the way from an empty folder to a running service, and the welcome that it prints."""

import ipaddress
import os
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import click
from flask import Flask

from photosvc.auth import accounts, credentials, first_account, tokens
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.scopes import parse_scope
from photosvc.cli.group import PlainError, choose_instance, find_app, operating, require_alone
from photosvc.cli.originals import choose_folder, replace_option
from photosvc.cli.terminal import FullPath
from photosvc.core.files import read_or_create
from photosvc.models import schema
from photosvc.settings.instance import INSTANCE_VARIABLE, is_samples
from photosvc.web.service import EXTENSION, Service, current_service


def print_welcome(service: Service, folder: Path, address: str, *, token_file: Path, code: str = "") -> None:
    """Print the folder, the library, the address, and three things to try in another terminal.

    `code` is the one with which a browser creates the first account; it is empty if there is an account.
    """
    database = service.engine().url
    library = database.database if database.get_backend_name() == "sqlite" else database.render_as_string()
    click.echo(f"Photos    {folder}" + (" (the bundled samples)" if is_samples(folder) else ""))
    click.echo(f"Instance  {service.instance} (another library: --instance FOLDER)")
    click.echo(f"Library   {library}")
    click.echo(f"Address   {address}")
    if code:
        click.echo(f"Account   none yet: open the address in a browser and type the code {code}")
    click.echo()
    click.echo("Indexing continues in the background. Try in another terminal:\n")
    instance = os.environ.get(INSTANCE_VARIABLE)
    if instance:
        click.echo(f"  export {INSTANCE_VARIABLE}={shlex.quote(str(service.instance))}")
    click.echo(f"  TOKEN=$(cat {shlex.quote(str(token_file.absolute()))})")
    svc = program()
    steps = (
        (f"curl -H \"X-Auth-Token: $TOKEN\" '{address}/api/v1/photos?count=3'", "search over HTTP"),
        (f"{svc} status", "the size of the library, and files that failed"),
        (f"{svc} search 'year:2020-2026' --count 5", "search without HTTP"),
    )
    for command, meaning in steps:
        click.echo(f"  {command}  # {meaning}")
    click.echo()


def program() -> str:
    """Return the command that calls `svc` in a shell: its name if that finds this installation, else its path."""
    script = Path(sys.executable).with_name("svc")
    in_path = shutil.which("svc")
    return "svc" if in_path and os.path.realpath(in_path) == os.path.realpath(script) else shlex.quote(str(script))


@click.command()
@click.option(
    "--instance",
    metavar="FOLDER",
    expose_value=False,
    callback=choose_instance,
    help="Folder of this library: its database, keys and settings; by default one for all that this user runs.",
)
@click.option(
    "--photos",
    type=FullPath(file_okay=False),
    metavar="FOLDER",
    help="Folder of originals, which later commands remember; without it the remembered one, else the bundled samples.",
)
@replace_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8080, show_default=True, help="Port to listen on.")
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Server processes.")
@click.option("--watch/--no-watch", default=True, show_default=True, help="Index changes while it runs.")
def run(photos: Path | None, replace: bool, host: str, port: int, workers: int, watch: bool) -> None:
    """Upgrade the database, serve the library, and index the originals.

    Each library has an instance folder of its own: svc run --instance FOLDER. Without the option there is one for all,
    which the command prints.

    Running it again is quick and safe: unchanged photos are not opened, and the token stays the same. With --no-watch,
    the originals are indexed once.
    """
    is_local = host in {"0.0.0.0", "::", "127.0.0.1"}  # noqa: S104 - compared, not bound
    address = f"http://{'localhost' if is_local else _bracketed(host)}:{port}"
    app = find_app(click.get_current_context())
    _require_alone(app)
    _check_free(host, port)
    with app.app_context():
        service = current_service()
        schema.upgrade(service.engine())
        service.require_schema()
        folder = choose_folder(service, photos, replace=replace)
        token_file = service.instance / "run_token"
        _keep_token(service, token_file)
        code = _offer_account(service)
        print_welcome(service, folder, service.settings.base_url or address, token_file=token_file, code=code)
    sys.stdout.flush()
    if not (service.settings.proxies or _is_loopback(host)):
        click.echo(
            f"Warning: it accepts requests from other machines on {host} without a proxy in front, so that passwords, "
            "tokens and pictures travel unencrypted. Put nginx in front (docs/quick-start.md) and set "
            "PHOTOSVC_PROXIES=1, or listen on 127.0.0.1.",
            err=True,
        )
    os.environ["PHOTOSVC_ORIGINALS"] = str(folder)
    os.environ[INSTANCE_VARIABLE] = app.instance_path  # the code of the app may have chosen another folder
    _start_indexer("watch" if watch else "index")
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")  # threads do not share freed memory between arenas
    target = f"photosvc.app:create_app(address={address!r})"
    options = ["--bind", f"{_bracketed(host)}:{port}", "--workers", str(workers), "--threads", "16"]
    options += ["--limit-request-line", "8190", "--no-control-socket", "--config", "python:photosvc.serving"]
    os.execv(sys.executable, [sys.executable, "-m", "gunicorn", *options, target])  # noqa: S606 - our own interpreter


def _require_alone(app: Flask) -> None:
    """Make sure that the server, which makes an app of its own, serves the library of this app."""
    require_alone(
        app,
        "`svc run` serves",
        "serve it as before, with `flask run` or a WSGI server, after `svc db upgrade` and `svc index`.",
    )
    service: Service = app.extensions[EXTENSION]
    if set_by_app := [name for name, origin in service.settings.origins.items() if origin == "app"]:
        names = ", ".join(f"PHOTOSVC_{name.upper()}" for name in sorted(set_by_app))
        msg = (
            f"`svc run` makes an app without what the code of this one sets ({names}): serve this one by a WSGI server."
        )
        raise PlainError(msg, 2)


def _start_indexer(command: str) -> None:
    """Start an indexer that ends with this process, the server; requests do not wait for a process of its own."""
    program = "from photosvc.main import main; main()"
    options = [sys.executable, "-c", program, command, "--parent", str(os.getpid())]
    subprocess.Popen(options, stdin=subprocess.DEVNULL)  # noqa: S603 - our own interpreter


def _keep_token(service: Service, path: Path) -> None:
    """Make sure that the file, which has mode 0600, contains a valid token."""
    if path.exists():
        token = path.read_text("ascii").strip()
        try:
            with service.reading() as connection:
                tokens.verify(connection, token, service.now())
        except InvalidTokenError:
            path.unlink()
        else:
            return
    with operating() as operation:
        issued = credentials.issue(operation, name="svc run", scope=parse_scope("photos albums"))
    read_or_create(path, lambda: issued.secret)


def _offer_account(service: Service) -> str:
    """Return the code with which a browser creates the first account, empty if there is an account."""
    with service.reading() as connection:
        if accounts.has_accounts(connection):
            first_account.withdraw(service.instance)
            return ""
    return first_account.offer(service.instance)


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


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
