"""Why a file could not be read as a photo; every message is a short reason for people."""

from http import HTTPStatus

from photosvc.core.errors import PhotosvcError


class UnsupportedFileError(PhotosvcError):
    """The file is not a picture, a video or a sidecar."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE


class DecodeError(PhotosvcError):
    """The picture is damaged."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY


class PictureTooLargeError(DecodeError):
    """The picture is larger than this service decodes."""


class MissingExtraError(DecodeError):
    """An optional decoder is not installed.

    Args:
        extra: its name, as in `pip install 'photosvc[extra]'`.

    """

    def __init__(self, extra: str) -> None:
        super().__init__(f"needs the extra \"{extra}\": pip install 'photosvc[{extra}]'")
