"""Parsers of settings: each takes the text of a variable or a value of `config.py`, or raises ValueError."""

import re
from typing import Final
from urllib.parse import urlsplit

from photosvc.core.logs import JSON, TEXT
from photosvc.core.paths import full_path
from photosvc.core.vocabulary import KINDS, parse_kinds

_LONGEST_ADDRESS = 500
_LONGEST: Final = 500
#: The placeholders for the number of a tile; the optional `{r}` asks for twice the pixels.
_FIELDS: Final = ("{z}", "{x}", "{y}")
#: An address whose host has only characters that a `Content-Security-Policy` can contain unescaped.
_TILES: Final = re.compile(
    r"(https?://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?)?/(?!/)[A-Za-z0-9._~!$&()*+=:@%/?{}-]*", re.ASCII
)


def plain_text(value: object) -> str:
    """Parse a text that is not empty; strip the blanks around it."""
    if not isinstance(value, str) or not value.strip():
        msg = "expected a text that is not empty"
        raise ValueError(msg)
    return value.strip()


def base_url(value: object) -> str:
    """Parse the public address of the service, without a slash at its end; empty for none."""
    if isinstance(value, str) and not value.strip():
        return ""
    text = plain_text(value).rstrip("/")
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


def database_uri(value: object) -> str:
    """Parse the address of a database; add the driver that photosvc uses."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    text = plain_text(value)
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


def replica_uri(value: object) -> str:
    """Parse the address of a replica on PostgreSQL; empty for none."""
    text = database_uri(value) if value else ""
    if text.startswith("sqlite"):
        msg = "expected an address such as postgresql://…: SQLite has no replicas"
        raise ValueError(msg)
    return text


def sendfile_header(value: object) -> str:
    """Parse the name of a header by which a web server sends files; empty for none."""
    if value not in {"", "X-Accel-Redirect", "X-Sendfile"}:
        msg = "expected X-Accel-Redirect, X-Sendfile or nothing"
        raise ValueError(msg)
    return str(value)


def sendfile_prefix(value: object) -> str:
    """Parse the path of an internal location, without a slash at its end."""
    text = plain_text(value).rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", text):
        msg = "expected a path such as /photosvc-files"
        raise ValueError(msg)
    return text


def secret(value: object) -> str:
    """Parse a text that is long enough for a key."""
    text = plain_text(value)
    if len(text) < 32:
        msg = "expected at least 32 characters"
        raise ValueError(msg)
    return text


def stack_by(value: object) -> str:
    """Parse kinds of stacks; return each once, in the order of `KINDS`."""
    kinds = parse_kinds(plain_text(value))
    return " ".join(kind for kind in KINDS if kind in kinds) or "none"


def log_format(value: object) -> str:
    """Parse a format of log lines."""
    if value not in {TEXT, JSON}:
        msg = f"expected {TEXT} or {JSON}"
        raise ValueError(msg)
    return str(value)


def switch(value: object) -> bool:
    """Parse true or false in any of the words that configuration files use."""
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if str(value).strip().lower() not in words:
        msg = "expected true or false"
        raise ValueError(msg)
    return words[str(value).strip().lower()]


def map_tiles(value: object) -> str:
    """Parse the address of map tiles, with each placeholder once; without a host it is on that of the service."""
    if isinstance(value, str) and not value.strip():
        return ""
    text = plain_text(value)
    rest = text.replace("{r}", "", 1)
    for name in _FIELDS:
        rest = rest.replace(name, "0", 1)
    if len(text) > _LONGEST:
        msg = f"expected at most {_LONGEST} characters"
        raise ValueError(msg)
    if not all(name in text for name in _FIELDS) or "{" in rest or "}" in rest or not _TILES.fullmatch(text):
        msg = "expected an address such as https://tiles.example.org/{z}/{x}/{y}.png"
        raise ValueError(msg)
    return text


def map_attribution(value: object) -> str:
    """Parse the credit of the map tiles; empty for none."""
    if not isinstance(value, str) or len(value) > _LONGEST or not value.strip().isprintable():
        msg = f"expected a line of at most {_LONGEST} characters"
        raise ValueError(msg)
    return value.strip()
