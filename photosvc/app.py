"""The app factory: a Flask app with photosvc as its only content."""

import logging
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from flask import Flask, Response, request
from flask_sqlalchemy import SQLAlchemy

from photosvc.auth.audit.lines import LOGGER
from photosvc.backup.moves import require_finished
from photosvc.core.clock import Clock, system_clock
from photosvc.core.errors import SettingError
from photosvc.core.folders.closed import close_files, close_folder
from photosvc.core.folders.instance import make_instance
from photosvc.core.texts.log_lines import write_lines
from photosvc.extension import PhotoService
from photosvc.models.database.engine import configure_engine, engine_options
from photosvc.pages.errors import render_page, wants_page
from photosvc.settings import load_settings
from photosvc.web.answers.answer import add_security_headers
from photosvc.web.answers.errors import Failure, register_errors, render_by_path
from photosvc.web.current import EXTENSION, current_service
from photosvc.web.requests import access_log
from photosvc.web.requests.client_address import TrustedProxies
from photosvc.web.service.parts import PAGES, chosen_parts

#: Files of the instance folder that hold secrets: databases with their journals, the service key, settings.
_SECRET = ("*.db", "*.db-wal", "*.db-shm", "secret_key", "secret_key.next", "config.py")


class _App(Flask):
    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself: none of ours is `async`, which Flask would look for in seven functions a request."""
        return func


def create_app(
    *,
    instance: Path | str | None = None,
    settings: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock = system_clock,
    parts: Collection[str] | None = None,
    address: str = "",
) -> Flask:
    """A Flask app that serves photosvc alone.

    Args:
        instance: the instance folder; by default `PHOTOSVC_INSTANCE`, else as `core.folders.instance` says.
        settings: `PHOTOSVC_*` names and values that override all other sources.
        environ: source of the `PHOTOSVC_*` variables; by default the environment of the process.
        clock: returns the current time.
        parts: the parts to serve, keys of `photosvc.web.service.parts.PARTS`; by default all that can be served. Files
            in `templates/photosvc/` of the instance folder replace those of the web page.
        address: where it is served, the issuer of OAuth metadata while `PHOTOSVC_BASE_URL` is not set.

    Raises:
        SettingError: a setting or a part is unknown or invalid, or a restore was not finished.

    """
    environ = os.environ if environ is None else environ
    instance_folder = make_instance(instance, environ)
    require_finished(instance_folder)
    app = _App("photosvc", instance_path=str(instance_folder), static_folder=None)
    app.template_folder = str(instance_folder / "templates")
    app.url_map.merge_slashes = False
    loaded = load_settings(instance_folder, environ=environ, given=settings)
    close_folder(instance_folder, passable=bool(loaded.sendfile_header))
    close_files(path for name in _SECRET for path in instance_folder.glob(name))
    db = _open_database(app, loaded.database_uri)
    if loaded.proxies:
        app.wsgi_app = TrustedProxies(app.wsgi_app, loaded.proxies)  # type: ignore[method-assign]
    write_lines("photosvc", loaded.log_format)
    PhotoService(app, db=db, settings=loaded, clock=clock, parts=chosen_parts(parts), address=address)
    app.extensions[EXTENSION].is_alone = True
    register_errors(app, _render)
    for name in (LOGGER, access_log.LOGGER):
        logging.getLogger(name).setLevel(logging.INFO)
    app.after_request(add_security_headers)
    if loaded.access_log:
        app.after_request(access_log.note_access)  # of requests that reach no route
    return app


def _open_database(app: Flask, address: str) -> SQLAlchemy:
    """The extension with the engine of the database, whose file no other account may read.

    Raises:
        SettingError: the driver of the database is not installed.

    """
    app.config["SQLALCHEMY_DATABASE_URI"] = address
    try:
        db = SQLAlchemy(app, engine_options=engine_options(address))
        with app.app_context():
            engine = db.engine
    except ImportError as error:
        msg = (
            f"PHOTOSVC_DATABASE_URI names a database whose driver cannot be imported ({error}): "
            "for PostgreSQL, run pip install 'photosvc[postgres]'"
        )
        raise SettingError(msg, field="PHOTOSVC_DATABASE_URI") from None
    configure_engine(engine)
    if engine.dialect.name == "sqlite" and engine.url.database:
        close_files(Path(engine.url.database + end) for end in ("", "-wal", "-shm"))
    return db


def _render(failure: Failure) -> Response:
    """An error of the routing, which belongs to no blueprint: a page for browsers, else in the form of the API."""
    shown = PAGES in current_service().parts and wants_page(request)
    return render_page(failure) if shown else render_by_path(failure)
