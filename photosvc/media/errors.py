"""Errors of files that cannot be read as a photo, each with its `Problem`; optional decoders, imported when needed."""

import importlib
import importlib.util
from functools import cache
from http import HTTPStatus
from typing import Any

from photosvc.core.errors import PhotosvcError
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


class StorageError(PhotosvcError):
    """The folder of derived files (PHOTOSVC_CACHE) is full or cannot be written: free space on its disk."""

    status = HTTPStatus.INSUFFICIENT_STORAGE


#: Extra -> the module that it installs.
MODULES = {
    "heic": "pillow_heif", "jxl": "pylibjxl", "labels": "onnxruntime", "raw": "rawpy", "video": "av", "vips": "pyvips",
}  # fmt: skip


def load_extra(extra: str) -> Any:  # noqa: ANN401 - the libraries are untyped
    """Import the library of an extra, a key of `MODULES`.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return importlib.import_module(MODULES[extra])
    except ImportError as error:
        raise MissingExtraError(extra) from error


def has_extra(extra: str) -> bool:
    """Return whether the library of an extra is installed, without importing it."""
    return importlib.util.find_spec(MODULES[extra]) is not None


@cache
def register_heic() -> None:
    """Register the HEIC decoder with Pillow; it answers small sizes with embedded thumbnails. Further calls do nothing.

    Raises:
        MissingExtraError: pillow-heif is not installed.
    """
    load_extra("heic").register_heif_opener(thumbnails=True)


@cache
def register_jxl() -> None:
    """Register the JPEG XL decoder with Pillow. Further calls do nothing.

    Raises:
        MissingExtraError: pylibjxl is not installed.
    """
    load_extra("jxl").register_pillow(override=False)
