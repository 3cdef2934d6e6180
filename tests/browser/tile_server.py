"""A map server that draws its tiles: the coordinates of each in a colour that the outline does not have."""

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from PIL import Image, ImageDraw

COLOR = (200, 40, 200)


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Browsers end connections when the map moves on."""


@dataclass
class Tiles:
    """A map server that runs."""

    address: str
    """Scheme, host and port; of another host than the service, which gets no cookies of it."""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Paths and headers of all requests."""

    @property
    def template(self) -> str:
        """What `PHOTOSVC_MAP_TILES` is set to."""
        return self.address + "/{z}/{x}/{y}.png"


@contextmanager
def serve_tiles() -> Iterator[Tiles]:
    """A map server."""
    tiles = Tiles("")

    class Tile(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            tiles.asked.append((self.path, dict(self.headers)))
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.end_headers()
            self.wfile.write(_draw(self.path))

        def log_message(self, *_: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Tile)
    tiles.address = f"http://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield tiles
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _draw(path: str) -> bytes:
    picture = Image.new("RGB", (256, 256), COLOR)
    ImageDraw.Draw(picture).text((8, 8), path, fill="white")
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
