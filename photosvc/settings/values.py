"""Parsers of settings: each takes the text of a variable or a value of `config.py`, or refuses it."""

import re
from urllib.parse import urlsplit

from photosvc.core.paths import full_path
from photosvc.core.texts.log_lines import JSON, TEXT
from photosvc.core.values.stacks import KINDS, parse_kinds


def plain_text(value: object) -> str:
    """A text that is not empty, without blanks around it."""
    if not isinstance(value, str) or not value.strip():
        msg = "expected a text that is not empty"
        raise ValueError(msg)
    return value.strip()


_LONGEST_ADDRESS = 500


def base_url(value: object) -> str:
    """The public address of the service, without a slash at its end; empty for none."""
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
    """The address of a database, with the driver that photosvc uses."""
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


def sendfile_header(value: object) -> str:
    """A header by which a web server sends files; empty for none."""
    if value not in {"", "X-Accel-Redirect", "X-Sendfile"}:
        msg = "expected X-Accel-Redirect, X-Sendfile or nothing"
        raise ValueError(msg)
    return str(value)


def sendfile_prefix(value: object) -> str:
    """The path of an internal location, without a slash at its end."""
    text = plain_text(value).rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", text):
        msg = "expected a path such as /photosvc-files"
        raise ValueError(msg)
    return text


def secret(value: object) -> str:
    """A text that is long enough for a key."""
    text = plain_text(value)
    if len(text) < 32:
        msg = "expected at least 32 characters"
        raise ValueError(msg)
    return text


def stack_by(value: object) -> str:
    """Kinds of stacks, each once and in their order."""
    kinds = parse_kinds(plain_text(value))
    return " ".join(kind for kind in KINDS if kind in kinds) or "none"


def log_format(value: object) -> str:
    """A form of log lines."""
    if value not in {TEXT, JSON}:
        msg = f"expected {TEXT} or {JSON}"
        raise ValueError(msg)
    return str(value)


def switch(value: object) -> bool:
    """True or false, in the words that configuration files use."""
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if str(value).strip().lower() not in words:
        msg = "expected true or false"
        raise ValueError(msg)
    return words[str(value).strip().lower()]
