"""`svc doctor`: everything that a service needs, looked at once, with what to do where something is wrong."""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener

import click
import orjson
from sqlalchemy import func, select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from photosvc import __version__
from photosvc.auth.service_key import check_key, stored_fingerprint
from photosvc.cli.group import as_called, database_sentence, find_app
from photosvc.cli.terminal import format_options, print_list
from photosvc.core.errors import PhotosvcError, SchemaError
from photosvc.core.files import readable_by_others
from photosvc.core.message import counted
from photosvc.core.problems import Reason
from photosvc.index.mounts import are_away
from photosvc.index.run_log import last_run
from photosvc.library.failures import disk_of
from photosvc.media.errors import MODULES, has_extra
from photosvc.models import AuditEntry, File, RejectedFile, schema
from photosvc.web.service import Service, current_service

_COLUMNS: Final = {"check": "Check", "state": "State", "finding": "Finding", "todo": "What To Do"}
_OK, _WRONG = "ok", "wrong"
#: Room that a disk should have: this share of it, and no more bytes than these.
_ROOM_SHARE, _ROOM_BYTES = 0.05, 1 << 30
#: Difference of clocks that is no fault.
_CLOCK: Final = timedelta(seconds=5)
#: Before this time no photosvc was made.
_MADE: Final = datetime(2026, 1, 1, tzinfo=UTC)
#: Seconds in which the public address must answer, and the most bytes of the answer that are read.
_PATIENCE, _MOST_BYTES = 5.0, 1 << 16


class Diagnosis(NamedTuple):
    """The finding of a check."""

    finding: str
    todo: str = ""
    """The remedy; empty if nothing is wrong."""


Check: TypeAlias = Callable[[Service], Diagnosis]


@click.command()
@format_options
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Look at everything that the service needs, and say what to do where something is wrong.

    Looks at the settings, the database with its schema and key, permissions, originals, disks, the clock, the public
    address and the optional decoders. The exit code is 1 if anything is wrong.
    """
    try:
        app = find_app(ctx)
    except (PhotosvcError, OSError) as error:
        rows = [_row("settings", _of_error(error))]
    else:
        with app.app_context():
            service = current_service()
            rows = [_row(name, _diagnosis(check, service)) for name, check in _CHECKS.items()]
    print_list(_COLUMNS, rows)
    if any(row["state"] == _WRONG for row in rows):
        raise click.exceptions.Exit(1)


def _row(name: str, diagnosis: Diagnosis) -> dict[str, str]:
    state = _WRONG if diagnosis.todo else _OK
    return {"check": name, "state": state, "finding": diagnosis.finding, "todo": as_called(diagnosis.todo)}


def _diagnosis(check: Check, service: Service) -> Diagnosis:
    try:
        return check(service)
    except SQLAlchemyError as error:
        sentence = database_sentence(error, service.engine().url) or f"The database fails: {type(error).__name__}"
        if _is_postgres(service):
            return Diagnosis(sentence, "start its server, or correct PHOTOSVC_DATABASE_URI")
        return Diagnosis(sentence, "see the rows below, or restore a backup")
    except (PhotosvcError, OSError) as error:
        return _of_error(error)


def _of_error(error: PhotosvcError | OSError) -> Diagnosis:
    """Return the diagnosis of an error whose sentence says what to do, or names a file."""
    if isinstance(error, PhotosvcError):
        finding, _, todo = error.message.partition(": ")
        return Diagnosis(finding, todo or "correct it: docs/configuration.md has all settings")
    return Diagnosis(f"{error.strerror or type(error).__name__}: {error.filename or ''}", "let this account use it")


def _settings(service: Service) -> Diagnosis:
    return Diagnosis(f"photosvc {__version__} with the instance folder {service.instance}")


def _database(service: Service) -> Diagnosis:
    url = service.engine().url
    shown = url.database if url.get_backend_name() == "sqlite" else url.render_as_string()
    _require_file(service)
    with service.reading() as connection:
        connection.execute(text("SELECT 1"))
        schema.check_encoding(connection)
    return Diagnosis(f"{shown} answers")


def _require_file(service: Service) -> None:
    """Raise `SchemaError` if the file of SQLite does not exist, which a connection would make."""
    url = service.engine().url
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
        raise SchemaError(f"There is no file {url.database}: run `svc db upgrade`, or choose the folder by --instance.")


def _schema(service: Service) -> Diagnosis:
    _require_file(service)
    with service.reading() as connection:
        schema.check_schema(connection)
        version = schema.schema_version(connection)
    if differences := schema.differences(service.engine()):
        number = counted(len(differences), "difference")
        return Diagnosis(f"{number} from the tables of this version, such as {differences[0][:200]}", schema.WAY_OUT)
    service.schema_fits = True  # the other checks may read the tables
    return Diagnosis(f"at {version}, as this version needs it")


def _key(service: Service) -> Diagnosis:
    origin, stored = service.settings.origins.get("secret_key", "app"), None
    if service.schema_fits:
        with service.reading() as connection:
            stored = stored_fingerprint(connection)
    if stored is not None:
        check_key(service.settings, stored)
    return Diagnosis(f"from {origin}, {'not used yet' if stored is None else 'the one of the database'}")


def _permissions(service: Service) -> Diagnosis:
    owner = service.instance.stat().st_uid
    if owner != os.getuid() and service.is_alone:
        finding = f"{service.instance} belongs to user {_user(owner)}, and this is {_user(os.getuid())}"
        return Diagnosis(finding, f"run svc as {_user(owner)}: files that another user makes are not its own")
    url = service.engine().url
    database = str(url.database) if url.get_backend_name() == "sqlite" else ""
    files = [Path(database + end) for end in ("", "-wal", "-shm")] if database else []
    folders = [service.instance, _existing(service.settings.cache)]
    for path in (*folders, *(file for file in files if file.exists())):
        if not os.access(path, os.R_OK | os.W_OK | (os.X_OK if path in folders else 0)):
            return Diagnosis(f"{path} cannot be written", f"give it to this user: chown {_user(os.getuid())} {path}")
    secrets = [service.instance / name for name in ("secret_key", "config.py")]
    if open_files := readable_by_others([*files, *secrets]):
        finding, _, todo = open_files[0].partition(": ")
        return Diagnosis(finding, todo)
    return Diagnosis("instance and cache can be written, and others cannot read the secrets")


def _user(number: int) -> str:
    """Return the name of a user of the system, or its number."""
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _existing(folder: Path) -> Path:
    """Return the folder, or the one around it in which it will be made."""
    return next((one for one in (folder, *folder.parents) if one.exists()), folder)


def _originals(service: Service) -> Diagnosis:
    settings, folder = service.settings, service.settings.originals
    if not folder.is_dir():
        return Diagnosis(f"There is no folder {folder}", "mount its disk, or set PHOTOSVC_ORIGINALS")
    os.scandir(folder).close()
    if service.schema_fits:
        with service.reading(orm=True) as session:
            is_away, lacks_disk = are_away(session, folder), are_away(session, folder, within=True)
        if is_away:
            return Diagnosis(f"{folder} has none of the library's files", "mount its disk, or set PHOTOSVC_ORIGINALS")
        if lacks_disk:
            return Diagnosis(f"a disk below {folder} is not mounted", "mount it; svc purge forgets it for good")
    if not settings.readonly and not os.access(folder, os.W_OK):
        todo = "let this user write it, or set PHOTOSVC_READONLY=true: then nobody is offered uploads"
        return Diagnosis(f"{folder} cannot be written", todo)
    return Diagnosis(f"{folder} can be {'read' if settings.readonly else 'read and written'}")


def _disk(service: Service) -> Diagnosis:
    settings = service.settings
    folders = {"instance": service.instance, "cache": settings.cache, "originals": settings.originals}
    disks = {name: disk for name, folder in folders.items() if (disk := disk_of(_existing(folder))) is not None}
    for name, disk in disks.items():
        if disk.free < min(_ROOM_BYTES, disk.total * _ROOM_SHARE):
            finding = f"the disk of the {name} has {disk.free >> 20:,} MiB left"
            return Diagnosis(finding, "make room: svc trash empty, svc cache clear, or a smaller PHOTOSVC_CACHE_SIZE")
    return Diagnosis("free: " + ", ".join(f"{name} {disk.free >> 30:,} GiB" for name, disk in disks.items()))


def _clock(service: Service) -> Diagnosis:
    now, todo = service.now(), "set the clock of the machine, as by NTP: tokens and codes end by it"
    if now < _MADE:
        return Diagnosis(f"it is {now:%Y-%m-%d %H:%M} UTC, which is before photosvc was made", todo)
    newest = None
    if service.schema_fits:
        with service.reading(orm=True) as session:
            if _is_postgres(service):
                server: datetime | None = session.scalar(text("SELECT clock_timestamp()"))
                if server is not None and abs(server - service.now()) > _CLOCK:
                    shown = f"{server.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
                    return Diagnosis(f"the server of the database has {shown} UTC", todo)
            entries = (last_run(session).ended_at, session.scalar(select(func.max(AuditEntry.created_at))))
            newest = max((moment for moment in entries if moment is not None), default=None)
    if newest is not None and newest - now > _CLOCK:
        return Diagnosis(
            f"it is {now:%Y-%m-%d %H:%M} UTC, and the library has an entry of {newest:%Y-%m-%d %H:%M}", todo
        )
    return Diagnosis(f"{now:%Y-%m-%d %H:%M:%S} UTC; the zone of photos is {service.settings.timezone}")


def _proxy(service: Service) -> Diagnosis:
    settings = service.settings
    if not settings.base_url:
        if settings.proxies:
            todo = "set PHOTOSVC_BASE_URL to the address that people open: links and OAuth need it"
            return Diagnosis(f"PHOTOSVC_PROXIES is {settings.proxies}, and the public address is not set", todo)
        if settings.sendfile_header:
            todo = "put nginx in front (svc deploy show nginx), or leave PHOTOSVC_SENDFILE_HEADER empty"
            return Diagnosis("files are left to a web server in front, and none is configured", todo)
        return Diagnosis("none: the public address is not set")
    try:
        # The address is the operator's own, http or https, and no proxy of the environment stands between.
        with build_opener(ProxyHandler({})).open(f"{settings.base_url}/api/v1/healthz", timeout=_PATIENCE) as answer:
            body = orjson.loads(answer.read(_MOST_BYTES))
        version = str(body["version"])[:50]
    except HTTPError as error:
        gone = error.code in {HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
        todo = "start the service" if gone else "compare the proxy with svc deploy show nginx"
        return Diagnosis(f"{settings.base_url} answers {error.code}", todo)
    except (URLError, OSError) as error:
        reason = str(getattr(error, "reason", error))
        todo = "start the service and the proxy; SSL_CERT_FILE names an authority of your own"
        return Diagnosis(f"{settings.base_url} does not answer: {reason}", todo)
    except (ValueError, KeyError, TypeError):
        return Diagnosis(f"at {settings.base_url} is another program", "compare the proxy with svc deploy show nginx")
    if version != __version__:
        return Diagnosis(
            f"{settings.base_url} is served by photosvc {version}, this is {__version__}", "restart the service"
        )
    return Diagnosis(f"{settings.base_url} answers")


def _extras(service: Service) -> Diagnosis:
    missing = [name for name in sorted(MODULES) if not has_extra(name)]
    needed: dict[str, int] = {}
    if service.schema_fits and missing:
        with service.reading(orm=True) as session:
            needed = {name: number for name, number in _needed_extras(session).items() if name in missing}
    if needed:
        files = [f"{counted(number, 'file')} without {name}" for name, number in needed.items()]
        todo = f"pip install 'photosvc[{','.join(needed)}]', then svc index"
        return Diagnosis(f"not shown: {', '.join(files)}", todo)
    if _is_postgres(service) and not shutil.which("pg_dump"):
        return Diagnosis("pg_dump is not installed", "install the client programs of PostgreSQL: svc backup needs them")
    installed = [name for name in sorted(MODULES) if name not in missing]
    rest = f"; no file needs {', '.join(missing)}" if missing else ""
    return Diagnosis(f"installed: {', '.join(installed) or 'none'}{rest}")


def _is_postgres(service: Service) -> bool:
    return service.engine().url.get_backend_name() == "postgresql"


def _needed_extras(session: Session) -> Counter[str]:
    """Return the number of files that were left out or cannot be shown without each extra."""
    needed: Counter[str] = Counter()
    code = Reason.MISSING_EXTRA.value
    for extra, *conditions in (
        (RejectedFile.detail, RejectedFile.reason == code),
        (File.error_detail, File.error == code, File.missing.is_(False)),
    ):
        query = select(extra, func.count()).where(*conditions).group_by(extra)
        needed.update({name: number for name, number in session.execute(query)})  # noqa: C416 - typed rows
    return needed


#: The checks in their order.
_CHECKS: Final[Mapping[str, Check]] = {
    "settings": _settings,
    "database": _database,
    "schema": _schema,
    "key": _key,
    "permissions": _permissions,
    "originals": _originals,
    "disk": _disk,
    "clock": _clock,
    "proxy": _proxy,
    "extras": _extras,
}
