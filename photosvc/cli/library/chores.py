"""Further work of a process that indexes: imports, looking for look-alikes, the albums of uploads, and tidying up."""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from photosvc.core.errors import ConflictError

if TYPE_CHECKING:
    from contextlib import ExitStack

    from photosvc.index.watch.watcher import Chores
    from photosvc.web.current import Service


def chores_of(service: "Service", *, lock: "ExitStack | None" = None) -> "Chores":
    """The further work of an indexer.

    Args:
        service: of the app.
        lock: is made to hold the lock of the process that takes wishes, as soon as no other process does.

    """
    from photosvc.index.watch.on_request import indexer_lock
    from photosvc.index.watch.watcher import Chores
    from photosvc.library.imports.on_request import RequestedImports
    from photosvc.library.look_alikes.finding import is_look_wished, look_if_wished
    from photosvc.library.staging import Staging
    from photosvc.library.trash.empty import sweep as sweep_trash
    from photosvc.library.uploads.waiting import known_tokens, sweep
    from photosvc.library.uploads.waiting_albums import fill_albums, has_due_albums
    from photosvc.models.database.transactions import UnitOfWork, library_session, write_session

    staging = Staging(service.settings.originals)
    imports = RequestedImports(service.engine(), service.settings, service.clock)
    is_held = lock is None

    def often() -> bool:
        nonlocal is_held
        if lock is not None and not is_held:
            with suppress(ConflictError):
                lock.enter_context(indexer_lock(service.settings))
                is_held = True
        is_importing = is_held and (imports.step() | look_if_wished(service.engine(), service.clock))
        with UnitOfWork(service.engine()) as session:
            if not has_due_albums(session, service.now()):
                return is_importing
        with library_session(service.engine()) as session:
            fill_albums(session, service.now())
        return True

    def hourly() -> None:
        with UnitOfWork(service.engine()) as session:
            staging.sweep(service.now(), partial(known_tokens, session))
        sweep_trash(lambda: library_session(service.engine()), service.settings, service.now())
        swept = 1
        while swept:
            with write_session(service.engine()) as session:
                swept = sweep(session, staging, service.now())

    def waits() -> bool:
        with UnitOfWork(service.engine()) as session:
            return imports.waits() or is_look_wished(session)

    return Chores(often, hourly, waits)
