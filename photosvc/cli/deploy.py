"""`svc deploy show`: files for the programs that run the service, filled in with the settings in force."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import click
from flask import current_app
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from photosvc import __version__
from photosvc.cli.group import LazyGroup, PlainError, require_alone, with_service
from photosvc.cli.terminal import Duration, FullPath
from photosvc.settings import PREFIX, Settings, setting_fields
from photosvc.web.service import Service

#: The files for each program, by its name.
FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "nginx": ("nginx.conf",),
    "gunicorn": ("gunicorn.conf.py",),
    "systemd": (
        "photosvc.socket", "photosvc.service", "photosvc-watch.service", "photosvc-check.service",
        "photosvc-check.timer", "photosvc-backup.service", "photosvc-backup.timer",
    ),
    "compose": ("Containerfile", "compose.yaml", "gunicorn.conf.py", "nginx.conf"),
}  # fmt: skip
_TEMPLATES: Final = Path(__file__).parents[1] / "data" / "deploy"
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_HOST: Final = "photos.example.org"
_BIND: Final = "127.0.0.1:8080"
_UNIX: Final = "unix:"
_EVERYWHERE: Final = ("", "[::]")
_SENDFILE: Final = "X-Accel-Redirect"
#: Settings that these files need, whatever the environment says.
_NEEDED: Final = {"proxies": "1", "sendfile_header": _SENDFILE}
#: Variables of the environment that containers have other values for, or none.
_OF_THE_MACHINE: Final = frozenset(f"PHOTOSVC_{name}" for name in (
    "DATABASE_URI", "ORIGINALS", "CACHE", "IMPORT_FOLDER", "SENDFILE_HEADER", "SENDFILE_PREFIX",
    "PROXIES",
))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """The values that the files are filled in with."""

    originals: Path = Path("/srv/pictures")
    cache: Path = Path("/var/cache/photosvc")
    instance: Path = Path("/var/lib/photosvc")
    import_folder: Path | None = None
    """The folder from which pictures are imported, if a process may have to move files out of it."""
    readonly: bool = False
    base_url: str = ""
    """The public address; empty: an example."""
    sendfile_prefix: str = "/photosvc-files"
    bind: str = _BIND
    """Host and port, or socket, on which gunicorn listens."""
    listen: tuple[str, ...] = _EVERYWHERE
    """Addresses on which nginx listens; empty: all of IPv4."""
    hsts: int = 0
    """Seconds for which browsers use https alone (RFC 6797); 0: not said."""
    new_http2: bool = True
    """True for the `http2` directive of nginx 1.25.1 and later, False for the parameter of `listen` before."""
    behind: tuple[str, ...] = ()
    """Addresses and networks of the proxies in front of nginx, whose `X-Forwarded-For` is believed."""
    access_log: str = "/var/log/nginx/photosvc.log"
    workers: int = 2
    user: str = "photosvc"
    backups: Path = Path("/var/backups/photosvc")
    python: Path = Path("/opt/photosvc/bin/python")
    needs_network: bool = False
    """True if processes reach the database or the originals over a network."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Settings of the environment that are not secret, by the names of their variables."""
    secrets: tuple[str, ...] = ()
    """Variables of the environment that are secret."""


def files_of(program: str, deployment: Deployment) -> dict[str, str]:
    """Return the files for a program, a key of `FILES`, by name; raise `PlainError` if a value cannot stand in one."""
    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - no HTML; values are quoted for each file  # nosec B701
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    values = _VALUES[program](deployment)
    return {name: templates.get_template(f"{name}.jinja").render(values) for name in FILES[program]}


def _of_nginx(deployment: Deployment) -> dict[str, Any]:
    address = urlsplit(deployment.base_url or f"http://{_HOST}")
    tls, host = address.scheme == "https", address.hostname or _HOST
    if deployment.hsts and not tls:
        raise PlainError("--hsts is for an address with https: set PHOTOSVC_BASE_URL to one.", 2)
    path = address.path.rstrip("/")
    if path and not re.fullmatch(r"(/[\w.~-]+)+", path, re.ASCII):
        msg = (
            f"nginx would not compare the path {path!r} of PHOTOSVC_BASE_URL as it is: choose letters, digits and -._~"
        )
        raise PlainError(msg, 2)
    return {
        "path": path,
        "path_pattern": path.replace(".", r"\."),
        "originals": _line(deployment.originals),
        "cache": _line(deployment.cache),
        "base_url": _line(deployment.base_url or f"https://{_HOST}"),
        "upstream": deployment.bind,
        "behind": deployment.behind,
        "log": deployment.access_log,
        "tls": tls,
        "port": address.port or (443 if tls else 80),
        "listen": lambda port: [f"{one}:{port}" if one else str(port) for one in deployment.listen],
        "new_http2": deployment.new_http2,
        "hsts": f'add_header Strict-Transport-Security "max-age={deployment.hsts}" always;' if deployment.hsts else "",
        "host": f"[{host}]" if ":" in host else host,
        "prefix": deployment.sendfile_prefix.rstrip("/"),
        "originals_folder": _nginx(f"{deployment.originals}/"),
        "cache_folder": _nginx(f"{deployment.cache}/"),
    }


def _of_gunicorn(deployment: Deployment) -> dict[str, Any]:
    return {"bind": deployment.bind, "workers": deployment.workers}


def _of_systemd(deployment: Deployment) -> dict[str, Any]:
    state = [_unit(deployment.instance), _unit(deployment.cache)]
    written = [] if deployment.readonly else [str(deployment.originals)]
    if deployment.import_folder is not None:
        written.append(f"-{deployment.import_folder}")  # it may be missing
    names = {"PHOTOSVC_" + name.upper(): value for name, value in _NEEDED.items()}
    paths = (deployment.originals, deployment.cache, deployment.instance, deployment.python)
    return {
        "bind": deployment.bind.removeprefix(_UNIX),
        "is_unix": deployment.bind.startswith(_UNIX),
        "user": deployment.user,
        "home": any(path.is_relative_to("/home") or path.is_relative_to("/root") for path in paths),
        "instance": _unit(deployment.instance),
        "settings": [_unit(f"{name}={value}") for name, value in {**deployment.environment, **names}.items()],
        "secrets": deployment.secrets,
        "python": _unit(deployment.python, command=True),
        "svc": _unit(deployment.python.with_name("svc"), command=True),
        "gunicorn_config": "/etc/photosvc/gunicorn.conf.py",
        "backups": _unit(deployment.backups, command=True),
        "state": state,
        "writes": [*state, *map(_unit, written)],
        "network": deployment.needs_network,
    }


def _of_compose(deployment: Deployment) -> dict[str, Any]:
    """Return the values of all files for containers; the service is reached as `web`, and sends files itself."""
    if deployment.bind.startswith(_UNIX):
        raise PlainError("Containers reach each other by a host and a port: leave --bind unix:… out.", 2)
    port = deployment.bind.rpartition(":")[2]
    inside = replace(
        deployment,
        originals=Path("/originals"),
        cache=Path("/var/cache/photosvc"),
        access_log="/dev/stdout",
        bind=f"web:{port}",
        listen=_EVERYWHERE,
    )
    nginx = _of_nginx(inside)
    settings = {"PHOTOSVC_PROXIES": "1", "PHOTOSVC_BASE_URL": deployment.base_url, **deployment.environment}
    environment = {name: _yaml(value) for name, value in settings.items() if value and name not in _OF_THE_MACHINE}
    environment |= {"PHOTOSVC_PROXIES": _yaml("1")}
    secrets = {name: f"${{{name}:?write it into the file .env}}" for name in deployment.secrets}
    return {
        **nginx,
        **_of_gunicorn(replace(deployment, bind=f"0.0.0.0:{port}")),  # nosec B104
        "version": __version__,
        "service_port": port,
        "ports": [
            f"{address}{one}:{one}"
            for address in ([""] if deployment.listen == _EVERYWHERE else [f"{one}:" for one in deployment.listen])
            for one in (*((80,) if nginx["tls"] else ()), nginx["port"])
        ],
        "settings": environment | {name: value for name, value in secrets.items() if name not in _OF_THE_MACHINE},
        "originals": _yaml(deployment.originals),
        "readonly": str(deployment.readonly).lower(),
    }


#: For each program, the function that returns the values for its files.
_VALUES: Final[Mapping[str, Callable[[Deployment], dict[str, Any]]]] = {
    "nginx": _of_nginx,
    "gunicorn": _of_gunicorn,
    "systemd": _of_systemd,
    "compose": _of_compose,
}


def _line(value: object) -> str:
    """Return a value for one line of a file."""
    text = str(value)
    if _CONTROL.search(text):
        raise PlainError(f"{text!r} has control characters, which no configuration file can contain.", 2)
    return text


def _nginx(value: str) -> str:
    """Return a quoted text of nginx."""
    if "$" in value:
        raise PlainError(f"nginx cannot serve the folder {value!r}, because of the dollar sign in it.", 2)
    escaped = _line(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _unit(value: object, *, command: bool = False) -> str:
    """Return a text of a systemd unit, quoted where needed; in the line of a `command`, dollar signs are doubled."""
    text = _line(value).replace("%", "%%")
    if command:
        text = text.replace("$", "$$")
    if re.fullmatch(r"[\w./:@%+,=$-]+", text, re.ASCII):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _yaml(value: object) -> str:
    """Return a quoted text of a compose file, in which dollar signs are doubled."""
    return json.dumps(_line(value).replace("$", "$$"), ensure_ascii=False)


def _networks(_ctx: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses and networks in the form of nginx."""
    networks = []
    for value in values:
        try:
            network = ip_network(value)
        except ValueError as error:
            msg = f"{error}: give an address, or a network such as 192.0.2.0/24"
            raise click.BadParameter(msg) from None
        if not network.prefixlen:
            raise click.BadParameter(f"{value} is every address: each client could choose its own")
        if "%" in value:
            raise click.BadParameter(f"{value}: nginx knows no zones of addresses")
        networks.append(str(network if "/" in value else network.network_address))
    return tuple(networks)


def _addresses(_ctx: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return addresses of this machine in the form of nginx."""
    try:
        addresses = [ip_address(value) for value in values]
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    if any("%" in str(address) for address in addresses):
        raise click.BadParameter("nginx knows no zones of addresses")
    return tuple(f"[{address}]" if ":" in str(address) else str(address) for address in addresses)


def has_new_http2() -> bool:
    """Return whether the nginx of this machine, or one that is installed later, knows the directive `http2`."""
    try:
        done = subprocess.run(["nginx", "-v"], capture_output=True, text=True, timeout=5, check=False)  # noqa: S607  # nosec B607
    except (OSError, subprocess.TimeoutExpired):
        return True
    version = re.search(r"nginx/(\d+)\.(\d+)\.(\d+)", done.stderr)
    return version is None or tuple(map(int, version.groups())) >= (1, 25, 1)


@click.group(cls=LazyGroup)
def deploy() -> None:
    """Print files for nginx, gunicorn, systemd and containers, filled in with the settings in force."""


@deploy.command()
@click.argument("program", type=click.Choice(list(FILES)))
@click.option("--to", "folder", type=FullPath(file_okay=False), metavar="FOLDER", help="Write the files into FOLDER.")
@click.option(
    "--bind",
    default=_BIND,
    show_default=True,
    metavar="HOST:PORT",
    help="Address of gunicorn, or unix:/path of a socket.",
)
@click.option(
    "--listen",
    multiple=True,
    metavar="ADDRESS",
    callback=_addresses,
    help="Address on which nginx listens; repeatable; by default all.",
)
@click.option(
    "--hsts", type=Duration(), metavar="DURATION", default=0, help="Let browsers use https alone for so long, as 1y."
)
@click.option(
    "--behind",
    multiple=True,
    metavar="ADDRESS[/PREFIX]",
    callback=_networks,
    help="Proxy, or network of proxies, in front of nginx; repeatable.",
)
@click.option("--workers", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes of gunicorn.")
@click.option("--user", default="photosvc", show_default=True, help="User of the system that runs the service.")
@click.option(
    "--backups", type=FullPath(), default="/var/backups/photosvc", show_default=True, help="Folder of nightly backups."
)
@with_service
def show(
    service: Service,
    /,
    program: str,
    folder: Path | None,
    behind: tuple[str, ...],
    user: str,
    **rest: Any,  # noqa: ANN401
) -> None:
    """Print the files for PROGRAM, or write them into a folder."""
    require_alone(
        current_app,
        "`svc deploy show` writes files for",
        "deploy it as before, with `svc watch` as one more service, and `svc db upgrade` beside its own migrations.",
    )
    if not re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+):[0-9]{1,5}|unix:(/[\w.-]+)+", rest["bind"], re.ASCII):
        msg = f"{rest['bind']!r} is neither a host with a port, such as {_BIND}, nor unix: with an absolute path"
        raise click.BadParameter(msg, param_hint="--bind")
    if not re.fullmatch(r"[a-z_][a-z0-9_-]{0,31}", user, re.ASCII):
        raise click.BadParameter(f"{user!r} is no name of a user", param_hint="--user")
    of_nginx = {"--behind": behind, "--listen": rest["listen"], "--hsts": rest["hsts"]}
    for name in of_nginx if "nginx.conf" not in FILES[program] else ():
        if of_nginx[name]:
            raise click.BadParameter(f"the files for {program} have no nginx", param_hint=name)
    if rest["hsts"] < 0:
        raise click.BadParameter("a duration is not negative", param_hint="--hsts")
    rest["listen"] = rest["listen"] or _EVERYWHERE
    rest["new_http2"] = program == "compose" or has_new_http2()
    files = files_of(program, _deployment(service, behind=behind, user=user, **rest))
    if folder is None:
        for number, (name, text) in enumerate(files.items()):
            if len(files) > 1:
                click.echo(f"{'' if not number else chr(10)}# {name}")
            click.echo(text, nl=False)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        try:
            (folder / name).write_text(text)
        except OSError as error:  # that of a full disk names no file
            raise OSError(error.errno, error.strerror, str(folder / name)) from error
        click.echo(folder / name)


def _deployment(service: Service, **options: Any) -> Deployment:  # noqa: ANN401
    settings = service.settings
    return Deployment(
        originals=settings.originals,
        cache=settings.cache,
        instance=service.instance,
        import_folder=None if settings.readonly else settings.import_folder,
        readonly=settings.readonly,
        base_url=settings.base_url,
        sendfile_prefix=settings.sendfile_prefix,
        python=Path(sys.executable),
        needs_network=service.engine().url.get_backend_name() != "sqlite",
        **_environment(settings),
        **options,
    )


def _environment(settings: Settings) -> dict[str, Any]:
    """Return the settings that the environment gives, and the names of those that are secret."""
    named = {name: PREFIX + name.upper() for name in setting_fields() if settings.origins.get(name) == "environment"}
    hidden = {name for name, data in setting_fields().items() if data["secret"]}
    values = {key: getattr(settings, name) for name, key in named.items() if name not in hidden}
    texts = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in values.items()}
    return {"environment": texts, "secrets": tuple(key for name, key in named.items() if name in hidden)}
