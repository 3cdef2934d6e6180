"""The table of settings: the parser, values, meaning and default of each.

Parsers take the text of a variable or a value of `config.py`, or raise ValueError.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from photosvc.core.files import full_path
from photosvc.core.logs import JSON, TEXT
from photosvc.core.times import is_zone
from photosvc.core.vocabulary import DEFAULT_KINDS, KINDS, parse_kinds

_LONGEST: Final = 500
#: The placeholders for the zoom and position of a tile; the optional `{r}` asks for twice the pixels.
_PLACEHOLDERS: Final = ("{z}", "{x}", "{y}")
#: An address whose host has only characters that a `Content-Security-Policy` can contain unescaped.
_TILES: Final = re.compile(
    r"(https?://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?)?/(?!/)[A-Za-z0-9._~!$&()*+=:@%/?{}-]*", re.ASCII
)


def _plain_text(value: object) -> str:
    """Parse a text that is not empty; strip the blanks around it."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("expected a text that is not empty")
    return value.strip()


def _base_url(value: object) -> str:
    """Parse the public address of the service, without a slash at its end; empty for none."""
    if isinstance(value, str) and not value.strip():
        return ""
    text = _plain_text(value).rstrip("/")
    msg = "expected an http or https address such as https://photos.example.org"
    try:
        parts = urlsplit(text)
    except ValueError:
        raise ValueError(msg) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment or "@" in text:
        raise ValueError(msg)
    if len(text) > _LONGEST:
        raise ValueError(f"expected at most {_LONGEST} characters: headers contain it")
    return text


def _origins(value: object) -> str:
    """Parse origins as browsers send them, separated by spaces; empty for none."""
    origins = str(value).split()
    if not all(re.fullmatch(r"https?://[a-z0-9.\[\]:-]+", origin) for origin in origins):
        raise ValueError("expected origins such as https://gallery.example.org, separated by spaces")
    return " ".join(origins)


def database_uri(value: object) -> str:
    """Parse the address of a database; add the driver that photosvc uses."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    text = _plain_text(value)
    try:
        url = make_url(text)
        kind = url.get_backend_name()
    except (ArgumentError, ValueError):
        kind = ""
    if kind not in {"sqlite", "postgresql"}:  # the message omits the value, which may hold a password
        raise ValueError("expected an address such as sqlite:////folder/photosvc.db or postgresql://…")
    if kind == "sqlite" and (url.database or "").startswith("~"):
        return url.set(database=str(full_path(url.database))).render_as_string(hide_password=False)
    if url.drivername == kind == "postgresql":  # which driver that means depends on the version of SQLAlchemy
        return url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    return text


def _sendfile_header(value: object) -> str:
    """Parse the name of a header by which a web server sends files; empty for none."""
    if value not in {"", "X-Accel-Redirect", "X-Sendfile"}:
        raise ValueError("expected X-Accel-Redirect, X-Sendfile or nothing")
    return str(value)


def _sendfile_prefix(value: object) -> str:
    """Parse the path of an internal location, without a slash at its end."""
    text = _plain_text(value).rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", text):
        raise ValueError("expected a path such as /photosvc-files")
    return text


def secret(value: object) -> str:
    """Parse keys that are long enough; return them with one space between them."""
    keys = _plain_text(value).split()
    if min(map(len, keys), default=0) < 32:
        raise ValueError("expected keys of at least 32 characters, separated by spaces")
    return " ".join(keys)


def _text(value: object) -> str:
    """Parse a text, which may be empty."""
    return _plain_text(value) if str(value).strip() else ""


def _stack_by(value: object) -> str:
    """Parse kinds of stacks; return each once, in the order of `KINDS`."""
    kinds = parse_kinds(_plain_text(value))
    return " ".join(kind for kind in KINDS if kind in kinds) or "none"


def _log_format(value: object) -> str:
    """Parse a format of log lines."""
    if value not in {TEXT, JSON}:
        raise ValueError(f"expected {TEXT} or {JSON}")
    return str(value)


def _switch(value: object) -> bool:
    """Parse true or false in the words of configuration files."""
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if str(value).strip().lower() not in words:
        raise ValueError("expected true or false")
    return words[str(value).strip().lower()]


def _timezone(value: object) -> str:
    """Parse the name of a time zone."""
    name = _plain_text(value)
    if not is_zone(name):
        raise ValueError("expected the IANA name of a time zone such as Europe/Berlin or UTC")
    return name


def _map_tiles(value: object) -> str:
    """Parse the address of map tiles, with each placeholder once; an address without a host is on the own host."""
    if isinstance(value, str) and not value.strip():
        return ""
    text = _plain_text(value)
    rest = text.replace("{r}", "", 1)
    for name in _PLACEHOLDERS:
        rest = rest.replace(name, "0", 1)
    if len(text) > _LONGEST:
        raise ValueError(f"expected at most {_LONGEST} characters")
    if not all(name in text for name in _PLACEHOLDERS) or "{" in rest or "}" in rest or not _TILES.fullmatch(text):
        raise ValueError("expected an address such as https://tiles.example.org/{z}/{x}/{y}.png")
    return text


def _map_attribution(value: object) -> str:
    """Parse the credit of the map tiles; empty for none."""
    if not isinstance(value, str) or len(value) > _LONGEST or not value.strip().isprintable():
        raise ValueError(f"expected a line of at most {_LONGEST} characters")
    return value.strip()


def _setting(
    parse: Callable[[object], Any], values: str, meaning: str, *, default: object = None, secret: bool = False
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
            raise ValueError(f"expected a whole number from {low} to {high}")
        return number

    return _setting(parse, f"{low} to {high} {unit}", meaning, default=default)


def _yes_or_no(meaning: str, *, default: bool) -> Any:  # noqa: ANN401
    return _setting(_switch, "`true` or `false`", meaning, default=default)


def _address(meaning: str) -> Any:  # noqa: ANN401
    return _setting(_base_url, "http or https address, or empty", meaning, default="")


_TEN_YEARS = 315_360_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of the service; the metadata of a field are its parser, values, meaning and default."""

    originals: Path = _setting(
        full_path,
        "path",
        "Folder of original pictures; never written to by indexing",
    )
    database_uri: str = _setting(
        database_uri, "SQLAlchemy address", "Address of the database, SQLite or PostgreSQL", secret=True
    )
    base_url: str = _address(
        "Public address of the service, with its path: issuer and links; without it links are relative"
    )
    cors_origins: str = _setting(
        _origins, "origins such as `https://gallery.example.org`, separated by spaces, or empty", default="",
        meaning="Origins of other sites whose scripts may use the API, with a token and never with cookies",
    )  # fmt: skip
    cache: Path = _setting(full_path, "path", "Folder for derived files such as thumbnails")
    secret_key: str = _setting(
        secret, "keys of at least 32 characters, separated by spaces",
        "Key that signs and encrypts, then former ones; made in instance/secret_key when not given", secret=True,
    )  # fmt: skip
    token_audience: str = _setting(
        _text, "text, or empty", default="",
        meaning="Audience (`aud`) of JWT access tokens, for another service that verifies them; empty for this service",
    )  # fmt: skip
    index_workers: int = _number(
        0, 256, "processes", "Worker processes of `svc index`; 0 takes one for each core", default=0
    )
    index_timeout: int = _number(
        1, 3600, "seconds", "Seconds a worker may spend on one file, and one more for each 4 MiB of it", default=60
    )
    index_memory: int = _number(256, 65536, "MiB", "MiB of memory a worker may use", default=2048)
    readonly: bool = _yes_or_no(
        "Refuse all changes of the originals: uploads, imports and changes over WebDAV", default=False
    )
    delete_originals: bool = _yes_or_no(
        "Let the deletion of photos and files move their originals into the trash; else only WebDAV does", default=True
    )
    trash_days: int = _number(
        0, 36_500, "days", "Days after which originals in the trash are deleted permanently; 0: never", default=30
    )
    import_folder: Path = _setting(full_path, "path", "Folder from which pictures are imported")
    upload_files: int = _number(1, 100_000, "files", "Files that one upload may have", default=500)
    upload_quota: int = _number(
        0, 1 << 40, "MiB", "MiB of originals that one account may upload in total; 0: no limit", default=0
    )
    uploads: int = _number(
        1, 10_000, "requests",
        "Requests by which one web worker receives files at the same time; each occupies a thread", default=4,
    )  # fmt: skip
    max_file_size: int = _number(
        1, 1_000_000, "MiB", "Largest original that is decoded, and largest upload, in MiB", default=1000
    )
    stack_by: str = _setting(
        _stack_by,
        "`none`, or words from `" + "`, `".join(KINDS) + "`",
        "Rules that stack files into one photo, in addition to equal names of RAW and JPEG; see docs/indexing.md",
        default=DEFAULT_KINDS,
    )
    watch_rescan: int = _number(
        10, 604_800, "seconds", "Seconds between two scans of all originals by `svc watch`", default=21_600
    )
    watch_poll: int = _number(
        10, 604_800, "seconds",
        "The same on file systems that do not report changes, such as network file systems", default=300,
    )  # fmt: skip
    watch_settle: int = _number(
        0, 3600, "seconds", "Seconds a new file must be unchanged before `svc watch` reads it", default=5
    )
    timezone: str = _setting(
        _timezone, "IANA name such as `Europe/Berlin`",
        "Time zone of `today` and `yesterday`, and of pictures and videos without a zone and a position",
    )  # fmt: skip
    estimate_places: bool = _yes_or_no(
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
        1, 1000, "requests",
        "Requests of one web worker that may wait for thumbnails and videos; keep this below its threads", default=6,
    )  # fmt: skip
    thumb_wait: int = _number(1, 300, "seconds", "Seconds a request waits for a new thumbnail", default=20)
    video_timeout: int = _number(1, 86_400, "seconds", "Seconds the conversion of one video may take", default=1800)
    zip_size: int = _number(1, 1 << 30, "MiB", "Largest archive of originals that is sent, in MiB", default=50_000)
    transfers: int = _number(
        1, 10_000, "answers",
        "Answers over 1 MiB that one web worker sends at the same time; keep this two below its threads, or more",
        default=6,
    )  # fmt: skip
    transfers_each: int = _number(
        1, 10_000, "answers", "Such answers that one account or client receives at the same time", default=4
    )
    search_timeout: int = _number(
        1, 3600, "seconds", "Seconds that one search may take; then it is answered 503", default=10
    )
    costly_searches: int = _number(
        1, 10_000, "searches",
        "Searches over 50 ms that one web worker runs at the same time; keep this two below its threads, or more",
        default=6,
    )  # fmt: skip
    sendfile_header: str = _setting(
        _sendfile_header, "empty, `X-Accel-Redirect` or `X-Sendfile`",
        "Header by which the web server in front sends files; empty: the service sends them", default="",
    )  # fmt: skip
    sendfile_prefix: str = _setting(
        _sendfile_prefix, "path of an address",
        "Internal location of nginx below which `originals/` and `cache/` lie", default="/photosvc-files",
    )  # fmt: skip
    site_name: str = _setting(
        _plain_text, "text", "Name people see, for example in authenticator apps", default="photosvc"
    )
    map_tiles: str = _setting(
        _map_tiles, "address with `{z}` `{x}` `{y}`, or empty",
        "Tiles of the map in Places, from a map server; empty: the map is the outline of the world", default="",
    )  # fmt: skip
    map_attribution: str = _setting(
        _map_attribution, "text, or text and an address", default="",
        meaning="Credit of these tiles, such as `© OpenStreetMap contributors https://www.openstreetmap.org/copyright`",
    )  # fmt: skip
    session_max_age: int = _number(60, _TEN_YEARS, "seconds", "Seconds until a login session ends", default=1_209_600)
    session_idle: int = _number(
        60, _TEN_YEARS, "seconds", "Seconds without use until a login session ends", default=604_800
    )
    sessions_each: int = _number(
        1, 100_000, "sessions",
        "Login sessions of one account, and of one app password; with one more, the oldest ends", default=100,
    )  # fmt: skip
    audit_entries: int = _number(
        100, 1_000_000, "entries",
        "Entries of the security log to keep of each kind: refusals, accesses, changes", default=10_000,
    )  # fmt: skip
    access_log: bool = _yes_or_no(
        "Log a line for each request, without secrets; see docs/security-log.md", default=False
    )
    log_format: str = _setting(
        _log_format, "`text` or `json`",
        "How lines of the log are written to stderr; not inside another app", default=TEXT,
    )  # fmt: skip
    proxies: int = _number(
        0, 8, "proxies", default=0,
        meaning="Reverse proxies in front whose `X-Forwarded-*` headers are trusted; not inside another app, see there",
    )  # fmt: skip
    former_keys: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Former secret keys, which only decrypt."""
    key_file: Path | None = field(default=None, compare=False, repr=False)
    """The file that the secret key was read from; None if the key was given."""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """The source of each setting's value, by the name of the setting."""

    def __repr__(self) -> str:
        """Return a text without secrets, for tracebacks and logs."""
        return f"<Settings originals={str(self.originals)!r}>"


def setting_fields() -> dict[str, Mapping[str, Any]]:
    """Return the metadata (parse, values, meaning, default, secret) of each setting by name, in declared order."""
    return {item.name: item.metadata for item in fields(Settings) if item.metadata}
