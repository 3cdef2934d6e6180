"""Why a search was ended before it was complete."""

from collections.abc import Sequence
from http import HTTPStatus

from photosvc.core.errors import Detail, PhotosvcError


class SearchEndedError(PhotosvcError):
    """The search was ended."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    reason = ""
    """What the metrics count it as."""


class SearchTooLongError(SearchEndedError):
    """The search took longer than it may."""

    reason = "too_long"

    def __init__(self, details: Sequence[Detail]) -> None:
        super().__init__("the search took too long")
        self.details = details


class SearchesBusyError(SearchEndedError):
    """Too many costly searches are running: try again in a moment, or make this one narrower."""

    reason = "busy"
    retry_after = 2


class ClientGoneError(SearchEndedError):
    """The client closed the connection."""

    reason = "client_gone"
