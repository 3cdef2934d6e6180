"""Hooks of gunicorn: `gunicorn --config python:photosvc.serving`, or a configuration file that imports them.

Workers share the memory of modules that the master has imported, learn how many threads they have, end with a sentence
when a setting is wrong, and give freed memory back.
"""

import gc
import importlib
from contextlib import suppress
from typing import Any, Final

from flask import Flask
from gunicorn.errors import AppImportError
from sqlalchemy.exc import SQLAlchemyError

from photosvc.auth import passwords
from photosvc.auth.errors import OtherServiceKeyError
from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import SchemaError, SettingError
from photosvc.core.process import release_memory
from photosvc.extension import VIEWS
from photosvc.web.refusals import REFUSALS
from photosvc.web.service import EXTENSION, Service

#: gunicorn takes the mount from no header: `X-Forwarded-Prefix` of trusted proxies tells it.
forwarder_headers = ""
#: Seconds between two times at which freed memory is given back to the system.
_RETURN_SECONDS: Final = 5.0
_returned_at = 0.0


def on_starting(_server: object) -> None:
    """Import the service in the master process before it forks.

    Python's garbage collector writes to the objects that it visits, which copies their memory in each worker. It does
    not visit frozen objects.
    """
    for module in ("photosvc.app", "photosvc.models.indexes", "photosvc.pictures.service", *VIEWS):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()


def post_fork(_server: object, worker: Any) -> None:  # noqa: ANN401 - gunicorn has no types
    """Let errors that the operator must correct end the server with a sentence instead of a traceback."""
    load = worker.load_wsgi

    def load_wsgi() -> None:
        try:
            load()
            # An unreachable database is no error: it may start later.
            if (service := _service_of(worker)) is not None:
                with worker.wsgi.app_context(), suppress(SQLAlchemyError, SchemaError):
                    service.require_schema()
        except (SettingError, OtherServiceKeyError) as error:
            raise AppImportError(error.message) from None

    worker.load_wsgi = load_wsgi


def post_worker_init(worker: Any) -> None:  # noqa: ANN401
    """Share out the threads of the worker, and give it a row of the counts of refusals."""
    REFUSALS.use_row(worker.age)
    passwords.let_wait(worker.cfg.threads)
    if (service := _service_of(worker)) is not None:
        service.gate.let_serve(worker.cfg.threads)


def post_request(_worker: object, _request: object, _environ: object, _answer: object) -> None:
    """Give freed memory back to the system now and then."""
    global _returned_at  # noqa: PLW0603 - hooks are functions of a module
    if SYSTEM_CLOCK.monotonic() >= _returned_at + _RETURN_SECONDS:
        _returned_at = SYSTEM_CLOCK.monotonic()
        release_memory()


def _service_of(worker: Any) -> Service | None:  # noqa: ANN401
    """Return the service of the worker's app; None for a middleware around it, an app without one, and the master."""
    app = getattr(worker, "wsgi", None)
    return app.extensions.get(EXTENSION) if isinstance(app, Flask) else None
