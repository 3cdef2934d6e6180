"""The blueprints of each part, and the prefix, engine and settings of a host app, checked when it is mounted on."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from flask import Blueprint, Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Engine, StaticPool

from photosvc.core.errors import SettingError
from photosvc.core.logs import START
from photosvc.settings import PREFIX, Settings, load_settings
from photosvc.web.parts import DAV, OF_API, PAGES, WELL_KNOWN, OwnBlueprint
from photosvc.web.proxies import TrustedProxies

_LOG = logging.getLogger(START)

#: The modules with the views of all parts. They are imported when their part is mounted, as this takes long.
VIEWS: Final = ("photosvc.api", "photosvc.api.well_known", "photosvc.dav.blueprint", "photosvc.pages")


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


def checked_prefix(url_prefix: str) -> str:
    """Return a prefix of paths without a slash at its end; empty for none.

    Raises:
        SettingError: it is not a path.
    """
    prefix = url_prefix.rstrip("/")
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
    settings = load_settings(instance, environ=environ, given=given, reads_config=False)
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
