"""The extension: photosvc inside a Flask app."""

import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from flask import Blueprint, Flask, current_app, request
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Engine, StaticPool

from photosvc.auth.principal import HostUser, Principal
from photosvc.cli import svc
from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import PhotosvcError, SettingError, in_host
from photosvc.core.logs import START
from photosvc.migrations import watch_alembic
from photosvc.settings import PREFIX, Settings, load_settings
from photosvc.web.host_users import PrincipalLoader, host_users
from photosvc.web.parts import DAV, OAUTH, OF_API, PAGES, WELL_KNOWN, OwnBlueprint, chosen_parts
from photosvc.web.proxies import TrustedProxies
from photosvc.web.service import EXTENSION, Service

if TYPE_CHECKING:
    from photosvc.web.searching import SearchResults, Value


_LOG = logging.getLogger(START)
#: The modules with the views of all parts. They are imported when their part is mounted, as this takes long.
VIEWS: Final = ("photosvc.api", "photosvc.api.well_known", "photosvc.dav.blueprint", "photosvc.pages")


class Exempting(Protocol):
    """An extension of the host that can exempt views, such as Flask-WTF's `CSRFProtect` and Flask-Limiter."""

    def exempt(self, view: Any, /) -> Any:  # noqa: ANN401 - each has types of its own
        """Exempt a view."""


class PhotoService:
    """A Flask extension that adds a photo library to an app.

    The tables (all named `photosvc_…`) are in the host's database: its default engine, or the one of `bind_key`.
    Routes, error handlers and models of the host are not touched. `photosvc.app.create_app` uses this class too.

    Args:
        options: further arguments of `init_app`.
    """

    def __init__(self, app: Flask | None = None, **options: Any) -> None:  # noqa: ANN401
        self._app: Flask | None = None
        if app is not None:
            self.init_app(app, **options)

    def init_app(
        self,
        app: Flask,
        *,
        db: SQLAlchemy,
        url_prefix: str | None = None,
        bind_key: str | None = None,
        settings: Settings | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Clock = SYSTEM_CLOCK,
        parts: Iterable[str] | None = None,
        principal_loader: PrincipalLoader | None = None,
        principal_actions: Collection[str] | None = None,
        address: str = "",
        with_views: bool = True,
    ) -> None:
        """Mount the service on `app`.

        Args:
            db: the host's Flask-SQLAlchemy extension, initialised on `app`.
            url_prefix: prefix of all paths: `/media` for `/media/api/v1/photos`; None or empty for none.
            bind_key: key of the host's engine that holds our tables; None for the default one.
            settings: all settings; by default `PHOTOSVC_*` of `app.config`, else of the environment, else defaults.
            environ: source of the `PHOTOSVC_*` variables; by default the environment of the process.
            clock: the wall clock and the monotonic clock.
            parts: keys of `photosvc.web.parts.PARTS`; by default all, but without a prefix no page: `/` is the host's.
            principal_loader: returns the host's signed-in `HostUser` or None; called if a request has no token of ours.
            principal_actions: the actions of the policy that this user may take; by default all open to users of hosts.
            address: the URL of the app, used as issuer in OAuth metadata while `PHOTOSVC_BASE_URL` is not set.
            with_views: False for a process that only runs commands or `search`: no routes, no import of the views.

        Raises:
            SettingError: an argument or setting is not valid, or has no effect inside another app.
        """
        if EXTENSION in app.extensions:
            raise SettingError(f"the app {app.name!r} has a PhotoService already: an app has one library", field="app")
        prefix, engine = checked_prefix(url_prefix), checked_engine(app, db, bind_key)
        mounted, hosts = chosen_parts(parts, pages=bool(prefix)), host_users(principal_loader, principal_actions)
        instance = Path(app.instance_path)
        if settings is None:
            settings = settings_in_host(app, instance, engine, os.environ if environ is None else environ)
        service = Service(
            settings=settings,
            clock=clock,
            db=db,
            bind_key=bind_key,
            instance=instance,
            parts=mounted,
            hosts=hosts,
            pages_path=(prefix or "/") if PAGES in mounted else None,
            url_prefix=prefix,
            address=address,
        )
        app.extensions[EXTENSION] = service
        if with_views:
            _add_views(app, service)
        app.teardown_appcontext(service.end)
        watch_alembic()
        app.cli.add_command(svc)  # `flask` finds the command by its entry point; Flask's test runner does not
        self._app = app

    def exempt(self, *others: Exempting) -> None:
        """Exempt all views of photosvc from extensions of the host: `service.exempt(csrf, limiter)`.

        Args:
            others: extensions with a method `exempt` that accepts views.
        """
        # Not the blueprints: Flask-Limiter knows these by their own names, and a host may have an `albums`, too.
        for view in mounted_views(self._host()):
            for other in others:
                other.exempt(view)

    def owns_request(self) -> bool:
        """Return whether the current request is for a route of photosvc, so that the host can let it pass."""
        return isinstance(current_app.blueprints.get(request.blueprint or ""), OwnBlueprint)

    def search(
        self,
        q: str | None = None,
        *,
        principal: HostUser | Principal | None = None,
        count: int | None = None,
        **parameters: "Value",
    ) -> "SearchResults":
        """Search from Python, without HTTP, as `GET /photos` does: `service.search("lake", year=2023, order="newest")`.

        It works within a request, an app context or neither, and keeps no transaction open.

        Args:
            q: words and filters.
            principal: the user who searches; by default private photos are left out, also for a user who is signed in.
            count: the most files on the page; 100 by default.
            parameters: `offset cursor order reverse seed merged total s filter`, and every filter by its name.

        Raises:
            InvalidValueError: a name is unknown, or a value is not valid; `field` names it.
            PermissionDeniedError: the scope of the principal does not cover searching.
            NotFoundError: the album or the photo of `near` does not exist, or may not be seen.
            SearchEndedError: the search took too long, or too many costly ones run.
            SchemaError: the tables are missing or of another version.
        """
        from photosvc.web.searching import search_library

        with _in_context(self._host()):
            return search_library(principal, {"q": q, "count": count, **parameters})

    def thumbnail_url(self, content_hash: str, size: str, principal: HostUser) -> str:
        """Return the URL of a thumbnail, valid while this user is signed in: `thumbnail_url(photo["Hash"], …)`.

        Args:
            content_hash: hash of a file, as in the results of `search`.
            size: a name that `svc show sizes` lists, such as `tile_500` or `fit_1280`.
            principal: the user who is signed in.

        Raises:
            InvalidValueError: there is no such size.
            RuntimeError: there is no `principal_loader`, or the part `media` is not mounted.
        """
        from photosvc.web.searching import thumbnail_url

        with _in_context(self._host()):
            return thumbnail_url(content_hash, size, principal)

    def _host(self) -> Flask:
        """Return the current app if it has photosvc, else the app on which the service was mounted last."""
        if current_app and EXTENSION in current_app.extensions:
            return current_app._get_current_object()  # type: ignore[attr-defined,no-any-return] # noqa: SLF001
        if self._app is None:
            raise RuntimeError("photosvc is not mounted on any app: call init_app first")
        return self._app


@contextmanager
def _in_context(app: Flask) -> Iterator[None]:
    """Enter a context of its own: the transaction of a calling request stays its own. Errors name `flask svc`."""
    with app.app_context():
        try:
            yield
        except PhotosvcError as error:
            error.message = in_host(error.message)
            error.args = (error.message,)
            raise


def _add_views(app: Flask, service: Service) -> None:
    """Mount the service's parts, with what their views need of the app."""
    if OAUTH in service.parts:
        from photosvc.api.oauth import OAUTH_EXTENSION, OAuthServer

        app.extensions[OAUTH_EXTENSION] = OAuthServer()
    if PAGES in service.parts:
        from photosvc.pages.messages import text_for_script

        service.say = text_for_script
    mount(app, service.parts, service.url_prefix, service.settings)


def mount(app: Flask, parts: frozenset[str], prefix: str, settings: Settings) -> None:
    """Register the blueprints of these parts; import the views of no other part."""
    for blueprint, path in _blueprints(parts, prefix, settings):
        app.register_blueprint(blueprint, url_prefix=path)


def _blueprints(parts: frozenset[str], prefix: str, settings: Settings) -> Iterator[tuple[Blueprint, str]]:
    """Yield each blueprint with the prefix of its paths."""
    if parts & OF_API:
        from photosvc.api import create_api

        yield create_api(parts), f"{prefix}/api/v1"
    if WELL_KNOWN in parts:
        from photosvc.api.well_known import create_inserted, create_well_known

        yield create_well_known(), f"{prefix}/.well-known"
        if (inserted := create_inserted(settings.base_url or prefix)) is not None:
            yield inserted, "/.well-known"
    if DAV in parts:
        from photosvc.dav.blueprint import FOLDER, create_dav

        yield create_dav(prefix), prefix + FOLDER
    if PAGES in parts:
        from photosvc.pages import pages

        yield pages, prefix


def mounted_views(app: Flask) -> list[Callable[..., Any]]:
    """Return the views of photosvc on an app."""
    own = {name for name, blueprint in app.blueprints.items() if isinstance(blueprint, OwnBlueprint)}
    return [view for endpoint, view in app.view_functions.items() if endpoint.rpartition(".")[0] in own]


def checked_prefix(url_prefix: object) -> str:
    """Return a prefix of paths without a slash at its end; empty for none.

    Raises:
        SettingError: it is not a path.
    """
    if url_prefix is None:
        return ""
    prefix = url_prefix.rstrip("/") if isinstance(url_prefix, str) else "?"
    if prefix and (not prefix.startswith("/") or "//" in prefix or set(prefix) & set("?#<> \\")):
        raise SettingError(f'url_prefix must be a path such as "/media", not {url_prefix!r:.80}', field="url_prefix")
    return prefix


def checked_engine(app: Flask, db: SQLAlchemy | None, bind_key: str | None) -> Engine:
    """Return the engine of the host that holds our tables.

    Raises:
        SettingError: there is none, or photosvc does not work with its kind of database.
    """
    initialised: SQLAlchemy | None = app.extensions.get("sqlalchemy")
    if initialised is None or initialised is not db:
        msg = f"db is not initialised on the app {app.name!r}: call db.init_app(app) before photosvc is mounted"
        raise SettingError(msg, field="db")
    with app.app_context():
        engines = initialised.engines
    if bind_key not in engines:
        known = ", ".join(repr(key) for key in engines if key is not None) or "none"
        what = "no SQLALCHEMY_DATABASE_URI" if bind_key is None else f"no bind_key {bind_key!r}"
        msg = f"the app {app.name!r} has {what} for the tables of photosvc; its SQLALCHEMY_BINDS have: {known}"
        raise SettingError(msg, field="bind_key")
    engine: Engine = engines[bind_key]
    if engine.dialect.name not in ("sqlite", "postgresql"):
        msg = f"photosvc works with SQLite and PostgreSQL, not with {engine.dialect.name}: give it a bind_key"
        raise SettingError(msg, field="bind_key")
    if isinstance(engine.pool, StaticPool):
        _LOG.warning(
            "The database of the app %r is in memory: photosvc shares its only connection with the session of the app, "
            "and may roll back what that has not committed. Use a file, in tests too.",
            app.name,
        )
    return engine


def settings_in_host(app: Flask, instance: Path, engine: Engine, environ: Mapping[str, str]) -> Settings:
    """Load the settings of photosvc inside a host app: from its configuration, else the environment, else defaults.

    Raises:
        SettingError: a setting is unknown or invalid, or has no effect inside another app.
    """
    given = {name: value for name, value in app.config.items() if name.startswith(PREFIX)}
    settings = load_settings(instance, environ=environ, overrides=given, reads_config=False)
    if (origin := settings.origins["database_uri"]) != "default":
        msg = (
            f"PHOTOSVC_DATABASE_URI ({origin}) has no effect inside another app, whose database it is: leave it out, "
            "and set SQLALCHEMY_DATABASE_URI, or SQLALCHEMY_BINDS with the bind_key of photosvc"
        )
        raise SettingError(msg, field="PHOTOSVC_DATABASE_URI")
    if settings.proxies and not isinstance(app.wsgi_app, TrustedProxies):
        msg = (
            f"PHOTOSVC_PROXIES ({settings.origins['proxies']}) has no effect inside another app: leave it out, "
            f"and wrap that app in werkzeug.middleware.proxy_fix.ProxyFix(app.wsgi_app, x_for={settings.proxies}, …)"
        )
        raise SettingError(msg, field="PHOTOSVC_PROXIES")
    address = engine.url.render_as_string(hide_password=False)
    # The origin is shown by `svc show config`.
    return replace(settings, database_uri=address, origins={**settings.origins, "database_uri": "host app"})
