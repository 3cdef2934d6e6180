"""The app factory: a Flask app with photosvc as its only content, its error pages, headers and access log."""

import logging
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Flask, Response, request
from flask_sqlalchemy import SQLAlchemy

from photosvc.auth.audit import LOGGER
from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import SettingError
from photosvc.core.files import make_files_private, make_folder_private
from photosvc.core.logs import write_lines
from photosvc.extension import PhotoService
from photosvc.models.engine import configure_engine, engine_options
from photosvc.settings import load_settings
from photosvc.settings.instance import make_instance, require_finished
from photosvc.web.parts import PAGES, chosen_parts
from photosvc.web.proxies import PublicPath, TrustedProxies
from photosvc.web.service import EXTENSION, Service, current_service

if TYPE_CHECKING:
    from photosvc.web.errors import Failure

#: Files of the instance folder that hold secrets: databases with their journals, the service key, settings.
_SECRET = ("*.db", "*.db-wal", "*.db-shm", "secret_key", "secret_key.next", "config.py")


def create_app(
    *,
    instance: Path | str | None = None,
    settings: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock = SYSTEM_CLOCK,
    parts: Collection[str] | None = None,
    address: str = "",
    with_views: bool = True,
) -> Flask:
    """Make a Flask app that serves photosvc alone.

    Args:
        instance: the instance folder; by default `PHOTOSVC_INSTANCE`, else the one that `settings.instance` finds.
        settings: `PHOTOSVC_*` names and values that override all other sources.
        environ: source of the `PHOTOSVC_*` variables; by default the environment of the process.
        clock: the wall clock and the monotonic clock.
        parts: the parts to serve, keys of `photosvc.web.parts.PARTS`; by default all that can be served. Files
            in `templates/photosvc/` of the instance folder replace templates of the web pages.
        address: the URL of the app, used as issuer in OAuth metadata while `PHOTOSVC_BASE_URL` is not set.
        with_views: False for commands, which answer no requests: the import of all views takes long.

    Raises:
        SettingError: a setting or a part is unknown or invalid, or a restore was not finished.
    """
    environ = os.environ if environ is None else environ
    instance_folder = make_instance(instance, environ)
    require_finished(instance_folder)
    app = Flask("photosvc", instance_path=str(instance_folder), static_folder=None)
    app.template_folder = str(instance_folder / "templates")
    app.url_map.merge_slashes = False
    loaded = load_settings(instance_folder, environ=environ, overrides=settings)
    make_folder_private(instance_folder, passable=bool(loaded.sendfile_header))
    make_files_private(path for name in _SECRET for path in instance_folder.glob(name))
    db = _open_database(app, loaded.database_uri)
    app.wsgi_app = PublicPath(app.wsgi_app, base_url=loaded.base_url, proxies=loaded.proxies)  # type: ignore[method-assign]
    if loaded.proxies:
        app.wsgi_app = TrustedProxies(app.wsgi_app, loaded.proxies)  # type: ignore[method-assign]
    write_lines("photosvc", loaded.log_format)
    mounted = chosen_parts(parts)
    PhotoService(app, db=db, settings=loaded, clock=clock, parts=mounted, address=address, with_views=with_views)
    app.extensions[EXTENSION].is_alone = True
    logging.getLogger(LOGGER).setLevel(logging.INFO)
    if with_views:
        _prepare_answers(app, app.extensions[EXTENSION])
    return app


def _prepare_answers(app: Flask, service: Service) -> None:
    """Let the app answer errors outside all blueprints, and add headers and the access log.

    Commands answer nothing and do not import the modules that this needs.
    """
    from photosvc.web import access_log, responses
    from photosvc.web.errors import register_errors

    register_errors(app, _render)
    logging.getLogger(access_log.LOGGER).setLevel(logging.INFO)
    app.after_request(responses.add_security_headers)
    if service.settings.access_log:
        app.after_request(access_log.note_access)  # also logs requests that reach no route


def _render(failure: "Failure") -> Response:
    """Render an error outside all blueprints, such as an unknown path: a page for browsers, else as the API does."""
    from photosvc.web.errors import render_by_path

    if PAGES in current_service().parts:
        from photosvc.pages.errors import render_page, wants_page

        if wants_page(request):
            return render_page(failure)
    return render_by_path(failure)


def _open_database(app: Flask, address: str) -> SQLAlchemy:
    """Return the extension with the engine of the database, and close its file to other accounts of the machine."""
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
        make_files_private(Path(engine.url.database + end) for end in ("", "-wal", "-shm"))
    return db
