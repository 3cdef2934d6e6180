"""The pictures that one process of the service makes on demand: thumbnails and videos."""

from functools import cached_property
from typing import Final

from photosvc.core.clock import Clock
from photosvc.core.process import usable_cores
from photosvc.core.slots import Slots
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.sizes import ThumbnailJob
from photosvc.pictures.thumbnails import Thumbnails
from photosvc.pictures.videos import VideoJob, Videos, make_video
from photosvc.settings import Settings
from photosvc.workers.pool import WorkerPool

_MIB: Final = 1 << 20
#: Thumbnails that may wait for one worker: as many as it makes in some seconds.
_QUEUED_EACH: Final = 16
_QUEUED_VIDEOS: Final = 4
#: Conversions of one owner that wait or are in progress; the others are for other owners.
_VIDEOS_EACH: Final = 3
#: Most seconds a request waits for a new video: enough to copy the tracks of a MOV. Players ask again.
_VIDEO_WAIT: Final = 5


class Pictures:
    """The thumbnails and videos of one process; no worker starts before the first picture is to be made."""

    def __init__(self, settings: Settings, cache: PictureCache, clock: Clock) -> None:
        self._settings = settings
        slots = settings.thumb_waiters
        waiting = Slots(slots - slots // 3, slots, clock=clock)
        self.thumbnails = Thumbnails(
            cache, lambda: self._thumbnail_workers, wait=settings.thumb_wait, waiting=waiting, clock=clock
        )
        self.videos = Videos(
            cache,
            lambda: self._video_workers,
            wait=min(_VIDEO_WAIT, settings.thumb_wait),
            waiting=waiting,
            clock=clock,
        )

    @cached_property
    def _thumbnail_workers(self) -> WorkerPool[ThumbnailJob, list[bytes]]:
        from photosvc.pictures.render import make_thumbnails

        workers = self._settings.thumb_workers or max(1, usable_cores() // 2)
        return WorkerPool(
            make_thumbnails,
            result=list[bytes],
            workers=workers,
            queued=workers * _QUEUED_EACH,
            each_owner=workers * _QUEUED_EACH * 2 // 3,
            timeout=self._settings.index_timeout,
            memory_bytes=self._settings.index_memory * _MIB,
        )

    @cached_property
    def _video_workers(self) -> WorkerPool[VideoJob, None]:
        return WorkerPool(
            make_video,
            result=type(None),
            workers=1,
            queued=_QUEUED_VIDEOS,
            each_owner=_VIDEOS_EACH,
            timeout=self._settings.video_timeout,
            memory_bytes=self._settings.index_memory * _MIB,
        )
