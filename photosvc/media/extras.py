"""Optional decoders, imported when first needed."""

import importlib
from functools import cache
from types import ModuleType
from typing import Any

from photosvc.media.errors import MissingExtraError

#: Extra -> the module that it installs.
MODULES = {"heic": "pillow_heif", "raw": "rawpy", "video": "av"}


def load_extra(extra: str) -> Any:  # noqa: ANN401 - the libraries are untyped
    """The library of an extra: `heic`, `raw` or `video`.

    Raises:
        MissingExtraError: it is not installed.

    """
    try:
        module: ModuleType = importlib.import_module(MODULES[extra])
    except ImportError as error:
        raise MissingExtraError(extra) from error
    return module


@cache
def register_heic() -> None:
    """Register the HEIC decoder with Pillow; it answers small sizes with embedded thumbnails. Further calls do nothing.

    Raises:
        MissingExtraError: pillow-heif is not installed.

    """
    load_extra("heic").register_heif_opener(thumbnails=True)
