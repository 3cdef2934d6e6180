"""The parts of the service, among which a host app chooses, and the blueprint of their routes."""

from collections.abc import Callable, Collection, Iterable
from functools import cache, partial
from typing import Any, Final

from flask import Blueprint
from flask.sansio.app import App
from werkzeug.routing import Rule

from photosvc.core.errors import SettingError
from photosvc.core.message import did_you_mean

SEARCH, SESSION, OAUTH, WELL_KNOWN, MEDIA, DAV, PAGES = (
    "search", "session", "oauth", "well_known", "media", "dav", "pages",
)  # fmt: skip
#: All parts, each with a description.
PARTS: Final[dict[str, str]] = {
    SEARCH: "the library: search, albums, people, labels, edits, uploads and index runs",
    SESSION: "log-ins, accounts and app passwords",
    OAUTH: "tokens for registered clients",
    WELL_KNOWN: "the discovery documents below /.well-known",
    MEDIA: "thumbnails, videos, downloads and archives",
    DAV: "the originals as a WebDAV folder",
    PAGES: "the web page",
}
#: The parts whose routes are below `/api/v1`.
OF_API: Final = frozenset({SEARCH, SESSION, OAUTH, MEDIA})
#: The parts that another part needs.
_NEEDS: Final[dict[str, frozenset[str]]] = {WELL_KNOWN: frozenset({OAUTH}), PAGES: frozenset({SEARCH, SESSION, MEDIA})}


def chosen_parts(given: Iterable[str] | None, *, pages: bool = True) -> frozenset[str]:
    """Return the parts to mount; by default all, the web page only if `pages`.

    Raises:
        SettingError: a part is unknown, or needs another one.
    """
    if given is None:
        return frozenset(PARTS) - ({PAGES} if not pages else set())
    if isinstance(given, str):
        raise SettingError(f'parts must be several names, as in parts=("{given[:32]}",)', field="parts")
    parts = frozenset(given)
    for name in sorted(parts - PARTS.keys(), key=str):
        msg = f'"{str(name)[:32]}" is not a part of photosvc'
        raise SettingError(did_you_mean(msg, str(name), PARTS, f"; there are {_quoted(PARTS)}"), field="parts")
    for name in sorted(parts):
        if missing := _NEEDS.get(name, frozenset()) - parts:
            msg = f'the part "{name}" needs {_quoted(sorted(missing))}: add it to parts, or leave "{name}" out'
            raise SettingError(msg, field="parts")
    if not parts:
        raise SettingError(f"parts is empty; there are {_quoted(PARTS)}", field="parts")
    return parts


def _quoted(names: Collection[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


class OwnRule(Rule):
    """A route whose functions that build addresses are compiled at their first use.

    Werkzeug compiles two for each route that is added: with 300 routes, nine tenths of the time to make an app.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        compiled = cache(partial(super()._compile_builder, append_unknown))
        return lambda rule, /, **values: compiled()(rule, **values)


class OwnBlueprint(Blueprint):
    """A blueprint that answers 404 to an address with doubled slashes, and whose routes also end in a slash.

    Werkzeug would redirect to the right address, at the same length and on the host that the request names.
    """

    def register(self, app: App, options: dict[str, Any]) -> None:
        """Register the blueprint, with routes of our own class unless the host has a class."""
        given = app.url_rule_class
        app.url_rule_class = OwnRule if given is Rule else given
        try:
            super().register(app, options)
        finally:
            app.url_rule_class = given

    def add_url_rule(self, rule: str, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as Flask has it
        """Add a rule that merges no slashes; the URL map is not changed, because it may be that of a host app."""
        super().add_url_rule(rule, *arguments, **{"merge_slashes": False, "strict_slashes": False, **options})
