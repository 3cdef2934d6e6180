"""The extension: photosvc inside somebody's Flask app."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flask import Flask, Response, g
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from photosvc.api import create_api
from photosvc.api.well_known import create_inserted, create_well_known
from photosvc.auth.oauth.signing_keys import SigningKeys
from photosvc.auth.throttle.database import DatabaseFailureStore
from photosvc.core.clock import Clock, system_clock
from photosvc.models.database import open_reader
from photosvc.settings import PREFIX, Settings, load_settings
from photosvc.web.current import EXTENSION, Service
from photosvc.web.oauth.server import OAuthServer

#: What a request reads or writes by, a connection or a session: its name in `flask.g`.
_OPEN = "photosvc_open"


class PhotoService:
    """Adds a photo library to a Flask app.

    The tables (all named `photosvc_…`) live in the host's database: its default engine, or the one of `bind_key`.
    The host's routes, error handlers and models are left alone. Standing alone, `photosvc.app.create_app` is the
    first user of this class.

    Args:
        app: the host app; without one, call `init_app` later.
        options: what `init_app` takes.

    """

    def __init__(self, app: Flask | None = None, **options: Any) -> None:  # noqa: ANN401
        if app is not None:
            self.init_app(app, **options)

    def init_app(
        self,
        app: Flask,
        *,
        db: SQLAlchemy,
        url_prefix: str = "",
        bind_key: str | None = None,
        settings: Settings | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Mount the service on `app`.

        Args:
            app: the host app.
            db: the host's Flask-SQLAlchemy extension, initialised on `app`.
            url_prefix: where the API hangs, `/media` for `/media/api/v1/photos`.
            bind_key: which of the host's engines holds our tables; None for the default one.
            settings: all settings; by default `PHOTOSVC_*` from `app.config`, then built-in defaults.
            clock: where the time comes from.

        Raises:
            SettingError: a setting is unknown or invalid.

        """
        instance = Path(app.instance_path)
        settings = settings or load_settings(instance, given=_given(app.config), reads_config=False)
        service = Service(
            settings=settings,
            clock=clock,
            open_reader=lambda: _reader(db, bind_key),
            keep_open=_keep_open,
            open_session=lambda: _session(db, bind_key),
            engine=lambda: _engine(db, bind_key),
            failures=DatabaseFailureStore(),
            instance=instance,
            signing_keys=SigningKeys(instance / "signing_keys", clock),
            oauth=OAuthServer(),
        )
        app.extensions[EXTENSION] = service
        api = create_api()
        api.after_request(_stop_reading)
        app.register_blueprint(api, url_prefix=url_prefix + "/api/v1")
        app.register_blueprint(create_well_known(), url_prefix=url_prefix + "/.well-known")
        if (inserted := create_inserted(settings.base_url)) is not None:
            app.register_blueprint(inserted, url_prefix="/.well-known")
        app.teardown_appcontext(_close)


def _given(config: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in config.items() if name.startswith(PREFIX)}


def _engine(db: SQLAlchemy, bind_key: str | None) -> Engine:
    return db.engines[bind_key]


def _reader(db: SQLAlchemy, bind_key: str | None) -> Connection:
    """Without a session: to set one up takes longer than to read a page of photos."""
    opened: Connection | Session | None = g.get(_OPEN)
    if isinstance(opened, Session):
        if opened.in_transaction() or opened.identity_map:
            return opened.connection()
        _close()  # it has done its work
        opened = None
    if opened is None:
        g.photosvc_open = opened = open_reader(_engine(db, bind_key))
    return opened


def _session(db: SQLAlchemy, bind_key: str | None) -> Session:
    # Not the host's session: what waits there to be written is for the host to commit or roll back.
    opened: Connection | Session | None = g.get(_OPEN)
    if not isinstance(opened, Session):
        _close()  # one transaction at a time: two could wait for each other
        g.photosvc_open = opened = Session(_engine(db, bind_key))
    return opened


def _stop_reading(answer: Response) -> Response:
    """A host that commits after each request must not find our transaction in its way: SQLite may let none write."""
    _close()
    return answer


def _keep_open() -> Callable[[], None]:
    """Take what is open out of this request's hands: an answer that is read piece by piece outlives it."""
    g.photosvc_kept = opened = g.pop(_OPEN)
    close: Callable[[], None] = opened.close
    return close


def _close(error: BaseException | None = None) -> None:
    opened: Connection | Session | None = g.pop(_OPEN, None)
    if opened is not None:
        opened.close()
    if error is not None and "photosvc_kept" in g:  # the answer it was kept for will not be sent
        g.photosvc_kept.close()
