"""The extension: photosvc inside a Flask app."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Flask, Response
from flask_sqlalchemy import SQLAlchemy

from photosvc.api import create_api
from photosvc.api.well_known import create_inserted, create_well_known
from photosvc.auth.oauth.signing_keys import SigningKeys
from photosvc.core.clock import Clock, system_clock
from photosvc.core.errors import SettingError
from photosvc.dav import FOLDER, create_dav, is_installed
from photosvc.settings import PREFIX, Settings, load_settings
from photosvc.web.client_address import TrustedProxies
from photosvc.web.current import EXTENSION, Service
from photosvc.web.oauth.server import OAUTH_EXTENSION, OAuthServer
from photosvc.web.request_counts import RequestCounts


class PhotoService:
    """Adds a photo library to a Flask app.

    The tables (all named `photosvc_…`) are in the host's database: its default engine, or the one of `bind_key`.
    Routes, error handlers and models of the host are not touched. `photosvc.app.create_app` uses this class too.

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
        webdav: bool = True,
    ) -> None:
        """Mount the service on `app`.

        Args:
            app: the host app.
            db: the host's Flask-SQLAlchemy extension, initialised on `app`.
            url_prefix: prefix of all paths of the API: `/media` for `/media/api/v1/photos`.
            bind_key: which of the host's engines holds our tables; None for the default one.
            settings: all settings; by default `PHOTOSVC_*` from `app.config`, then built-in defaults.
            clock: where the time comes from.
            webdav: whether the originals are a WebDAV folder at `/originals/`, if the extra `webdav` is installed.

        Raises:
            SettingError: a setting is unknown or invalid, or `PHOTOSVC_PROXIES` is set: the middleware of a host app
                is its own.

        """
        instance = Path(app.instance_path)
        settings = settings or load_settings(instance, given=_given(app.config), reads_config=False)
        if settings.proxies and not isinstance(app.wsgi_app, TrustedProxies):
            msg = (
                "PHOTOSVC_PROXIES has no effect inside another app: leave it out, and wrap that app in "
                f"werkzeug.middleware.proxy_fix.ProxyFix(app.wsgi_app, x_for={settings.proxies}, …)"
            )
            raise SettingError(msg, field="PHOTOSVC_PROXIES")
        service = Service(
            settings=settings,
            clock=clock,
            engine=lambda: db.engines[bind_key],
            instance=instance,
            signing_keys=SigningKeys(instance / "signing_keys", clock),
            requests=RequestCounts(instance / "metrics"),
        )
        app.extensions[EXTENSION] = service
        app.extensions[OAUTH_EXTENSION] = OAuthServer()

        def end_transaction(answer: Response) -> Response:
            # Before the hooks of the host, which may commit: on SQLite, an open transaction of ours could block that.
            service.close()
            return answer

        api = create_api()
        api.after_request(end_transaction)
        app.register_blueprint(api, url_prefix=url_prefix + "/api/v1")
        app.register_blueprint(create_well_known(), url_prefix=url_prefix + "/.well-known")
        if (inserted := create_inserted(settings.base_url)) is not None:
            app.register_blueprint(inserted, url_prefix="/.well-known")
        if webdav and is_installed():
            dav = create_dav(url_prefix)
            dav.after_request(end_transaction)
            app.register_blueprint(dav, url_prefix=url_prefix + FOLDER)
        app.teardown_appcontext(service.close)


def _given(config: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in config.items() if name.startswith(PREFIX)}
