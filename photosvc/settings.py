"""Settings: typed and checked at start-up; each value records which source it came from.

Sources, later ones win: built-in defaults, the folder that `svc run` remembers, `instance/config.py`, `PHOTOSVC_*`
environment variables, and what the embedding app passes. An unknown name or an invalid value stops the start.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from photosvc.core.errors import SettingError
from photosvc.core.folders.instance import INSTANCE_VARIABLE
from photosvc.core.folders.photos_folder import FILE, is_samples, remembered
from photosvc.core.paths import full_path, read_or_create
from photosvc.core.texts.log_lines import JSON, TEXT
from photosvc.core.values.stacks import DEFAULT_KINDS, KINDS, parse_kinds

PREFIX = "PHOTOSVC_"
#: Where the folder of originals came from that an earlier `svc run` was given.
REMEMBERED = f"instance/{FILE}"


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        msg = "expected a text that is not empty"
        raise ValueError(msg)
    return value.strip()


_LONGEST_ADDRESS = 500


def _base_url(value: object) -> str:
    if isinstance(value, str) and not value.strip():
        return ""
    text = _text(value).rstrip("/")
    msg = "expected an http or https address such as https://photos.example.org"
    try:
        parts = urlsplit(text)
    except ValueError:
        raise ValueError(msg) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment or "@" in text:
        raise ValueError(msg)
    if len(text) > _LONGEST_ADDRESS:
        msg = f"expected at most {_LONGEST_ADDRESS} characters: headers contain it"
        raise ValueError(msg)
    return text


def _database_uri(value: object) -> str:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    text = _text(value)
    try:
        url = make_url(text)
        kind = url.get_backend_name()
    except (ArgumentError, ValueError):
        kind = ""
    if kind not in {"sqlite", "postgresql"}:  # the message omits the value, which may hold a password
        msg = "expected an address such as sqlite:////folder/photosvc.db or postgresql://…"
        raise ValueError(msg)
    if kind == "sqlite" and (url.database or "").startswith("~"):
        return url.set(database=str(full_path(url.database))).render_as_string(hide_password=False)
    if url.drivername == kind == "postgresql":  # which driver that means depends on the version of SQLAlchemy
        return url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    return text


def _sendfile_header(value: object) -> str:
    if value not in {"", "X-Accel-Redirect", "X-Sendfile"}:
        msg = "expected X-Accel-Redirect, X-Sendfile or nothing"
        raise ValueError(msg)
    return str(value)


def _sendfile_prefix(value: object) -> str:
    text = _text(value).rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", text):
        msg = "expected a path such as /photosvc-files"
        raise ValueError(msg)
    return text


def _secret(value: object) -> str:
    text = _text(value)
    if len(text) < 32:
        msg = "expected at least 32 characters"
        raise ValueError(msg)
    return text


def _stack_by(value: object) -> str:
    kinds = parse_kinds(_text(value))
    return " ".join(kind for kind in KINDS if kind in kinds) or "none"


def _log_format(value: object) -> str:
    if value not in {TEXT, JSON}:
        msg = f"expected {TEXT} or {JSON}"
        raise ValueError(msg)
    return str(value)


def _switch(value: object) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if str(value).strip().lower() not in words:
        msg = "expected true or false"
        raise ValueError(msg)
    return words[str(value).strip().lower()]


def _setting(
    parse: Callable[[object], Any],
    values: str,
    meaning: str,
    *,
    default: object = None,
    secret: bool = False,
) -> Any:  # noqa: ANN401
    metadata = {"parse": parse, "values": values, "meaning": meaning, "default": default, "secret": secret}
    return field(metadata=metadata)


def _number(low: int, high: int, unit: str, meaning: str, *, default: int) -> Any:  # noqa: ANN401
    def parse(value: object) -> int:
        try:
            number = int(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            msg = f"expected a whole number from {low} to {high}"
            raise ValueError(msg)
        return number

    return _setting(parse, f"{low} to {high} {unit}", meaning, default=default)


_TEN_YEARS = 315_360_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting of the service: its parser, the values it takes, its meaning and its default."""

    originals: Path = _setting(full_path, "path", "Folder of original pictures; never written to by indexing")
    database_uri: str = _setting(
        _database_uri, "SQLAlchemy address", "Address of the database, SQLite or PostgreSQL", secret=True
    )
    base_url: str = _setting(
        _base_url,
        "http or https address, or empty",
        "Public address of the service, with its path: issuer and links; without it links are relative",
        default="",
    )
    cache: Path = _setting(full_path, "path", "Folder for derived files such as thumbnails")
    secret_key: str = _setting(
        _secret,
        "text, at least 32 characters",
        "Key that signs and encrypts; made in instance/secret_key when not given",
        secret=True,
    )
    index_workers: int = _number(
        0, 256, "processes", "Worker processes of `svc index`; 0 takes one for each core", default=0
    )
    index_timeout: int = _number(1, 3600, "seconds", "Seconds a worker may spend on one file", default=60)
    index_memory: int = _number(256, 65536, "MiB", "MiB of memory a worker may use", default=2048)
    readonly: bool = _setting(
        _switch,
        "`true` or `false`",
        "Refuse everything that writes into the folder of originals: uploads, imports and changes over WebDAV",
        default=False,
    )
    delete_originals: bool = _setting(
        _switch,
        "`true` or `false`",
        "Let the removal of photos and files move their originals into the trash; else only WebDAV does",
        default=False,
    )
    trash_days: int = _number(
        0, 36_500, "days", "Days after which what lies in the trash is deleted for good; 0: never", default=90
    )
    import_folder: Path = _setting(full_path, "path", "Folder from which pictures are imported")
    upload_files: int = _number(1, 100_000, "files", "Files that one upload may have", default=500)
    upload_quota: int = _number(
        0, 1 << 40, "MiB", "MiB of originals that one account may upload in all; 0: no limit", default=0
    )
    uploads: int = _number(
        1,
        10_000,
        "requests",
        "Requests by which one web worker receives files at the same time; each occupies a thread",
        default=4,
    )
    max_file_size: int = _number(1, 1_000_000, "MiB", "Largest original that is indexed, in MiB", default=1000)
    stack_by: str = _setting(
        _stack_by,
        "`none`, or words from `" + "`, `".join(KINDS) + "`",
        "What makes files one photo, beside the same name of a RAW and its JPEG; see docs/indexing.md",
        default=DEFAULT_KINDS,
    )
    watch_rescan: int = _number(
        10, 604_800, "seconds", "Seconds between two scans of all originals by `svc watch`", default=21_600
    )
    watch_poll: int = _number(
        10, 604_800, "seconds", "The same where changes are not reported, as on network file systems", default=300
    )
    watch_settle: int = _number(
        0, 3600, "seconds", "Seconds a new file must be unchanged before `svc watch` reads it", default=5
    )
    estimate_places: bool = _setting(
        _switch,
        "`true` or `false`",
        "Estimate the place of photos without a position from those that the same camera took before and after",
        default=True,
    )
    cache_size: int = _number(
        16, 1 << 30, "MiB", "MiB of derived pictures to keep; those used longest ago are removed first", default=20_480
    )
    thumb_workers: int = _number(
        0, 64, "processes", "Processes in which one web worker makes thumbnails; 0 takes half of the cores", default=0
    )
    thumb_waiters: int = _number(
        1,
        1000,
        "requests",
        "Requests of one web worker that may wait for thumbnails and videos; keep this below its threads",
        default=6,
    )
    thumb_wait: int = _number(1, 300, "seconds", "Seconds a request waits for a new thumbnail", default=20)
    video_timeout: int = _number(1, 86_400, "seconds", "Seconds the conversion of one video may take", default=1800)
    zip_size: int = _number(1, 1 << 30, "MiB", "Largest archive of originals that is sent, in MiB", default=50_000)
    transfers: int = _number(
        1,
        10_000,
        "answers",
        "Answers over 1 MiB that one web worker sends at the same time; keep this two below its threads, or more",
        default=6,
    )
    transfers_each: int = _number(
        1, 10_000, "answers", "Such answers that one account or client receives at the same time", default=4
    )
    search_timeout: int = _number(
        1, 3600, "seconds", "Seconds that one search may take; then it is answered 503", default=10
    )
    costly_searches: int = _number(
        1,
        10_000,
        "searches",
        "Searches over 50 ms that one web worker runs at the same time; keep this two below its threads, or more",
        default=6,
    )
    sendfile_header: str = _setting(
        _sendfile_header,
        "empty, `X-Accel-Redirect` or `X-Sendfile`",
        "Header by which the web server in front sends files; empty: the service sends them",
        default="",
    )
    sendfile_prefix: str = _setting(
        _sendfile_prefix,
        "path of an address",
        "Internal location of nginx below which `originals/` and `cache/` lie",
        default="/photosvc-files",
    )
    site_name: str = _setting(_text, "text", "Name people see, for example in authenticator apps", default="photosvc")
    session_max_age: int = _number(60, _TEN_YEARS, "seconds", "Seconds until a login session ends", default=1_209_600)
    session_idle: int = _number(
        60, _TEN_YEARS, "seconds", "Seconds without use until a login session ends", default=604_800
    )
    sessions_each: int = _number(
        1,
        100_000,
        "sessions",
        "Login sessions of one account, and of one app password; with one more, the oldest ends",
        default=100,
    )
    audit_entries: int = _number(
        100,
        1_000_000,
        "entries",
        "Entries of the security log to keep of each kind: refusals, accesses, changes",
        default=10_000,
    )
    access_log: bool = _setting(
        _switch,
        "`true` or `false`",
        "Log a line for each request, without secrets; see docs/security-log.md",
        default=False,
    )
    log_format: str = _setting(
        _log_format,
        "`text` or `json`",
        "How lines of the log are written to stderr; not inside another app",
        default=TEXT,
    )
    proxies: int = _number(
        0,
        8,
        "proxies",
        "Reverse proxies in front whose `X-Forwarded-*` headers are trusted; not inside another app, see there",
        default=0,
    )
    key_file: Path | None = field(default=None, compare=False, repr=False)
    """The file that the secret key was read from; None when it was given."""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Name of a setting -> where its value came from."""

    def __repr__(self) -> str:
        """Leave secrets out of tracebacks and logs."""
        return f"<Settings originals={str(self.originals)!r}>"


def setting_fields() -> dict[str, Mapping[str, Any]]:
    """Name -> metadata (parse, values, meaning, default, secret) of every setting, in order of declaration."""
    return {item.name: item.metadata for item in fields(Settings) if item.metadata}


def load_settings(
    instance: Path,
    *,
    environ: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
    reads_config: bool = True,
) -> Settings:
    """The settings of a service whose instance folder is `instance`.

    Args:
        instance: holds `config.py` and the keys.
        environ: source of the `PHOTOSVC_*` variables.
        given: names and values that override all other sources.
        reads_config: false inside a host app, whose `config.py` belongs to the host.

    Raises:
        SettingError: a name is unknown or a value is invalid; the message names it and its source.

    """
    known = setting_fields()
    sources: list[tuple[str, Mapping[str, object]]] = [
        ("instance/config.py", _config_file(instance / "config.py") if reads_config else {}),
        ("environment", {k: v for k, v in (environ or {}).items() if k.startswith(PREFIX) and k != INSTANCE_VARIABLE}),
        ("app", given or {}),
    ]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, source in sources:
        for full_name, raw in source.items():
            name = full_name.removeprefix(PREFIX).lower()
            if not full_name.startswith(PREFIX) or full_name != full_name.upper() or name not in known:
                msg = f"{full_name} ({origin}) is not a setting of photosvc; see docs/configuration.md"
                raise SettingError(msg, field=full_name)
            try:
                values[name] = known[name]["parse"](raw)
            except ValueError as error:
                msg = f"{full_name} ({origin}) is not valid: {error}"
                raise SettingError(msg, field=full_name) from None
            origins[name] = origin
    if "originals" not in values and reads_config and (folder := _remembered_folder(instance)):
        values["originals"], origins["originals"] = folder, REMEMBERED
    for name, value in _defaults(instance, known).items():
        if name not in values:
            values[name], origins[name] = value, "default"
    key_file = None if "secret_key" in values else instance.absolute() / "secret_key"
    if key_file is not None:
        values["secret_key"], origins["secret_key"] = _secret_file(key_file), "instance/secret_key"
    return Settings(**values, key_file=key_file, origins=origins)


def _remembered_folder(instance: Path) -> Path | None:
    """The folder of the last `svc run`; the samples only as long as there is no folder of originals."""
    try:
        folder = remembered(instance)
    except (OSError, ValueError) as error:
        msg = f"{REMEMBERED} cannot be used: {error}. Remove the file, or name the folder: svc run --photos FOLDER"
        raise SettingError(msg, field="PHOTOSVC_ORIGINALS") from None
    if folder is not None and is_samples(folder) and (instance / "originals").is_dir():
        return None
    return folder


def _defaults(instance: Path, known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    instance = instance.absolute()
    defaults = {name: data["default"] for name, data in known.items() if data["default"] is not None}
    defaults["originals"] = instance / "originals"
    defaults["cache"] = instance / "cache"
    defaults["import_folder"] = instance / "import"
    defaults["database_uri"] = f"sqlite:///{instance / 'photosvc.db'}"
    return defaults


def _config_file(path: Path) -> dict[str, object]:
    """The upper-case names of a Python file, as Flask reads them."""
    try:
        source = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        msg = f"instance/config.py cannot be read: {type(error).__name__}"
        raise SettingError(msg) from None
    names: dict[str, object] = {"__file__": str(path)}
    try:
        exec(compile(source, str(path), "exec"), names)  # noqa: S102 - the owner's own configuration, as in Flask
    except Exception as error:
        msg = f"instance/config.py stops with {type(error).__name__}: {error}"
        raise SettingError(msg) from error
    return {name: value for name, value in names.items() if name.isupper()}


def _secret_file(path: Path) -> str:
    try:
        return _secret(read_or_create(path, lambda: secrets.token_hex(32)))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        msg = f"instance/secret_key cannot be used: {reason}; {INSTANCE_VARIABLE} is {path.parent}"
        raise SettingError(msg, field="PHOTOSVC_SECRET_KEY") from None
