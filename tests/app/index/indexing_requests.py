"""An indexer in the process of the test, in place of the one that requests start, and workers without processes."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

from sqlalchemy import Engine

from photosvc.cli.index import other_jobs_of
from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.index.watcher import RequestedIndexer
from photosvc.library.job_runner import JobRunner
from photosvc.web.indexer import Indexer
from photosvc.web.service import Service


def index_at_once(service: Service) -> Indexer:
    """Do what the process that `wake_indexer` starts would do."""
    other_jobs = other_jobs_of(service)
    RequestedIndexer(service.engine(), service.settings, service.clock, other_jobs).fulfil()
    other_jobs.often()
    return Indexer.STARTED


def look_at_once(engine: Engine, clock: Clock) -> bool:
    """Look for look-alikes as an indexer does; gives whether anybody asked for it."""
    without_settings: Any = None
    runner = JobRunner(engine, without_settings, clock)
    is_asked = runner.waits()
    runner.step()
    return is_asked


class InlinePool:
    """A `WorkerPool` without processes, for friendly files: starting one takes half a second."""

    def __init__(self, function: Callable[[Any], object], **_: object) -> None:
        self._function = function

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""

    def run(self, items: Iterable[Any]) -> Iterator[tuple[Any, object]]:
        """Each item with its result or error."""
        for item in items:
            try:
                yield item, self._function(item)
            except PhotosvcError as error:
                yield item, error
