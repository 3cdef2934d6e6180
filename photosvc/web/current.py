"""The service of the app a request or command belongs to. Nothing live hangs anywhere else."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from flask import current_app
from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from photosvc.auth.oauth.signing_keys import SigningKeys
from photosvc.auth.throttle.attempts import FailureStore
from photosvc.core.clock import Clock
from photosvc.models.database import check_schema
from photosvc.settings import Settings

if TYPE_CHECKING:
    from photosvc.web.oauth.server import OAuthServer

EXTENSION = "photosvc"


@dataclass(slots=True)
class Service:
    """What an app's photosvc is made of."""

    settings: Settings
    clock: Clock
    open_reader: Callable[[], Connection]
    open_session: Callable[[], Session]
    keep_open: Callable[[], Callable[[], None]]
    """Leaves what this request has opened to its answer, which closes it by calling what this gives."""
    engine: Callable[[], Engine]
    failures: FailureStore
    """Where failed log-ins are counted."""
    instance: Path
    """The folder of the keys."""
    signing_keys: SigningKeys
    oauth: "OAuthServer"
    schema_fits: bool = field(default=False, init=False)

    @property
    def reader(self) -> Connection:
        """A connection of this request to read by, in a transaction: all that a token check or a search needs."""
        return self.open_reader()

    @property
    def session(self) -> Session:
        """The SQLAlchemy session of this request or command."""
        return self.open_session()

    def now(self) -> datetime:
        """The present by the service's clock."""
        return self.clock()

    def require_schema(self) -> None:
        """Make sure once that tables and code fit.

        Raises:
            SchemaError: they do not; the sentence names the command.

        """
        if not self.schema_fits:
            check_schema(self.reader)
            self.schema_fits = True


def current_service() -> Service:
    """The service of the current app."""
    service: Service = current_app.extensions[EXTENSION]
    return service
