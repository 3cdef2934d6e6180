"""The service of `bench.grid`: everybody is signed in with the token of the library, and thumbnails are clouds."""

import os
import random
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageFilter

from bench.library import TOKEN_FILE
from photosvc.app import create_app

_PICTURES = 24
_token = Path(os.environ["PHOTOSVC_INSTANCE"], TOKEN_FILE).read_text().strip()
app = create_app()


@cache
def _cloud(number: int) -> bytes:
    """A JPEG of about 14 KB, as thumbnails of 720 pixels often have."""
    draw = random.Random(number)
    noise = Image.frombytes("RGB", (48, 32), draw.randbytes(48 * 32 * 3)).filter(ImageFilter.GaussianBlur(1))
    out = BytesIO()
    noise.resize((720, 480), Image.Resampling.BICUBIC).save(out, "JPEG", quality=70)
    return out.getvalue()


def served(environ: dict[str, Any], start_response: Callable[..., Any], inner: Any = app.wsgi_app) -> Iterable[bytes]:  # noqa: ANN401
    """The WSGI app."""
    path = environ["PATH_INFO"]
    if path.startswith("/api/v1/t/"):
        body = _cloud(zlib.crc32(path.encode()) % _PICTURES)
        start_response("200 OK", [("Content-Type", "image/jpeg"), ("Content-Length", str(len(body)))])
        return [body]
    environ.setdefault("HTTP_X_AUTH_TOKEN", _token)
    answer: Iterable[bytes] = inner(environ, start_response)
    return answer


app.wsgi_app = served  # type: ignore[method-assign]
