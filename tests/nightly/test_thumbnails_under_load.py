"""Many new thumbnails for many connections: all are answered, in bounded memory."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from sqlalchemy import select

from photosvc.models import File
from tests.app.pictures.picture_client import PictureClient
from tests.helpers.api_client import open_api
from tests.helpers.pictures import jpeg
from tests.helpers.programs.server import serve
from tests.system.test_thumbnail_processes import children


def memory(pid):
    """MiB of a process and of those that it started."""
    own = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return int(own[1]) / 1024 + sum(map(memory, children(pid)))


def test_two_hundred_new_thumbnails_for_forty_connections_are_all_answered(tmp_path):
    with open_api(tmp_path) as api:
        library = api.library
        for number in range(200):
            library.put(f"{number}.jpg", jpeg(1600 + number, 1200))
        library.clock.present = datetime.now(UTC)
        library.index(workers=0)
        with library.session() as session:
            hashes = list(session.scalars(select(File.hash)))
        token = PictureClient(api).preview
        with serve(library.instance, workers=2, threads=20, environ={"PHOTOSVC_THUMB_WORKERS": "1"}) as address:

            def get(content_hash):
                while True:  # a request waits for its thumbnail, and is then refused for a moment
                    try:
                        with urlopen(f"{address}/api/v1/t/{content_hash}/{token}/fit_1280", timeout=60) as answer:
                            return answer.status, len(answer.read()), int(answer.headers["X-Worker"])
                    except HTTPError as error:
                        if error.code != 503:
                            raise

            with ThreadPoolExecutor(40) as connections:
                answers = list(connections.map(get, hashes))
            used = sum(map(memory, {pid for _, _, pid in answers}))
    assert len(hashes) == 200
    assert {status for status, _, _ in answers} == {200}
    assert min(size for _, size, _ in answers) > 10_000
    assert used < 400
