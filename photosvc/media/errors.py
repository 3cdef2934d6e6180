"""Errors of files that cannot be read as a photo; each carries its `Problem`."""

from http import HTTPStatus

from photosvc.core.problems import FileProblemError, Reason


class UnsupportedFileError(FileProblemError):
    """The file is not a picture, a video or a sidecar."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE


class DecodeError(FileProblemError):
    """The picture cannot be decoded."""


class PictureTooLargeError(DecodeError):
    """The picture is larger than this service decodes."""


class MissingExtraError(DecodeError):
    """An optional decoder is not installed.

    Args:
        extra: its name, as in `pip install 'photosvc[extra]'`.

    """

    def __init__(self, extra: str) -> None:
        super().__init__(Reason.MISSING_EXTRA, extra)
