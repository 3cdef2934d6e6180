"""The service of `bench.grid`: everybody is signed in with the token of the library, and thumbnails are clouds.

Beside it stands a bare page, the limit that the grid is compared with: boxes without a library, which get other places
and colours while its scrubber is held, and pictures 90 ms after that.
"""

import os
import random
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageFilter

from bench.libraries.library import TOKEN_FILE
from photosvc.app import create_app

_PICTURES = 24
_THUMBNAILS = "/api/v1/t/"
_BARE = "/bare"
_BARE_PAGE = b"""<!doctype html>
<title>A bare page</title>
<style>
body { margin: 0; }
#grid img { position: absolute; }
.scrubber { position: fixed; top: 64px; right: 0; bottom: 0; width: 40px; }
</style>
<div id="grid"></div><div class="scrubber"></div>
<script>
const wide = 330, high = 220, across = Math.max(1, Math.floor((innerWidth - 40) / wide));
const boxes = Array.from({length: across * Math.ceil(innerHeight / high)}, () => document.createElement("img"));
const scrubber = document.querySelector(".scrubber");
let held = false, frame = 0, timer = 0, at = 0;
function place() {
  boxes.forEach((box, number) => {
    const {style} = box;
    box.removeAttribute("src");
    style.left = `${(number % across) * wide}px`;
    style.top = `${Math.floor(number / across) * high - (at * 7) % high}px`;
    style.width = `${wide - 4}px`; style.height = `${high - 4}px`;
    style.background = `hsl(${(number * 40 + at * 1000) % 360} 30% 60%)`;
  });
  clearTimeout(timer);
  timer = setTimeout(show, 90);
}
function show() { boxes.forEach((box, number) => { box.src = `/api/v1/t/${Math.round(at * 1e6) + number}/fit_360`; }); }
scrubber.addEventListener("pointerdown", (event) => { held = true; scrubber.setPointerCapture(event.pointerId); });
scrubber.addEventListener("pointerup", () => { held = false; });
scrubber.addEventListener("pointermove", (event) => {
  at = event.clientY / innerHeight;
  if (held && !frame) frame = requestAnimationFrame(() => { frame = 0; place(); });
});
document.querySelector("#grid").append(...boxes);
place();
show();
</script>
"""

_folder = Path(os.environ["PHOTOSVC_INSTANCE"])
_token = (_folder / TOKEN_FILE).read_text().strip()
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
    if path.startswith(_THUMBNAILS):
        body = _cloud(zlib.crc32(path.encode()) % _PICTURES)
        start_response("200 OK", [("Content-Type", "image/jpeg"), ("Content-Length", str(len(body)))])
        return [body]
    if path == _BARE:
        start_response("200 OK", [("Content-Type", "text/html"), ("Content-Length", str(len(_BARE_PAGE)))])
        return [_BARE_PAGE]
    environ.setdefault("HTTP_X_AUTH_TOKEN", _token)
    answer: Iterable[bytes] = inner(environ, start_response)
    return answer


app.wsgi_app = served  # type: ignore[method-assign]
