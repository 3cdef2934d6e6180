"""Uploads and imports that meet, are killed, or find the disk full: real servers, real processes."""

import os
import random
import signal
import subprocess
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
import requests
from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError

from photosvc.cli.thumbs import chores_of
from photosvc.web.current import current_service
from photosvc.web.indexer import Indexer
from tests.helpers.api_client import API, open_api
from tests.helpers.clients.upload_client import originals, parts, picture, sha1
from tests.helpers.library import SURROUNDINGS
from tests.helpers.programs import forks
from tests.helpers.programs.server import serve


@contextmanager
def served(folder, **settings):
    with open_api(folder) as api:
        environ = {f"PHOTOSVC_{name.upper()}": str(value) for name, value in settings.items()}
        options = ["--config", "python:photosvc.serving"]
        with serve(api.library.instance, workers=2, threads=8, options=options, environ=environ) as address:
            yield api, f"{address}{API}", {"Authorization": f"Bearer {api.app_password('alice', '*')}"}


def post(api, base, headers, bundle, *files):
    given = [("files", (name, data)) for name, data in files]
    return requests.post(f"{base}{api.user_path()}/upload/{bundle}", files=given, headers=headers, timeout=60)


def put(api, base, headers, bundle):
    return requests.put(f"{base}{api.user_path()}/upload/{bundle}", json={}, headers=headers, timeout=60)


def at_once(number, call):
    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(call, range(number)))


def until_taken(send):
    """Send a request again as long as too many others of the account wait to write."""
    ends = time.monotonic() + 60
    while (answer := send()).status_code == 503 and time.monotonic() < ends:
        assert answer.headers["Retry-After"]
        time.sleep(0.1)
    return answer.status_code


def test_of_eight_puts_of_one_upload_at_once_each_says_what_became_of_the_files(tmp_path):
    with served(tmp_path, uploads=8) as (api, base, headers):
        for turn in range(2):
            data = [picture(turn * 10 + number) for number in range(4)]
            sent = post(api, base, headers, turn, *((f"{number}.jpg", one) for number, one in enumerate(data)))
            assert sent.status_code == 200, sent.text
            answers = at_once(8, lambda _, turn=turn: put(api, base, headers, turn))
            assert {answer.status_code for answer in answers} == {200}, [answer.text for answer in answers]
            found = Counter(file["status"] for answer in answers for file in answer.json()["files"])
            assert found.pop("added") == 4
            assert set(found) <= {"duplicate"}
        assert len(originals(api)) == 8
        assert parts(api) == []


def test_uploads_at_once_never_exceed_a_quota(tmp_path):
    with served(tmp_path, uploads=8, upload_quota=1) as (api, base, headers):
        data = [picture(number) + bytes(300_000) for number in range(8)]
        statuses = at_once(
            8, lambda number: until_taken(lambda: post(api, base, headers, number, ("a.jpg", data[number])))
        )
        assert Counter(statuses) == {200: 3, 507: 5}
        statuses = at_once(8, lambda number: until_taken(lambda: put(api, base, headers, number)))
        assert set(statuses) == {200}
        assert len(originals(api)) == 3
        assert parts(api) == []
        lengths = {"Tus-Resumable": "1.0.0", "Upload-Length": "200000"}
        create = f"{base}/uploads"
        refused = at_once(4, lambda _: requests.post(create, headers=headers | lengths, timeout=60).status_code)
        assert refused == [507] * 4


def kill_a_worker(base):
    with suppress(OSError), urllib.request.urlopen(f"{base}/status", timeout=5) as answer:
        os.kill(int(answer.headers["X-Worker"]), signal.SIGKILL)


def test_a_resumable_upload_is_completed_whenever_its_server_is_killed(tmp_path):
    chance = random.Random(7)
    data = picture(1) + chance.randbytes(4_000_000)
    with served(tmp_path) as (api, base, headers):
        with ThreadPoolExecutor(1) as pool:

            def upload():
                client = TusClient(f"{base}/uploads", headers=headers)
                url, failure = None, "never tried"
                for _ in range(200):
                    try:
                        options = {"url": url} if url else {"metadata": {"filename": "large.jpg"}}
                        uploader = client.uploader(file_stream=BytesIO(data), chunk_size=200_000, **options)
                        url = url or uploader.create_url()
                        uploader.upload()
                    except (TusCommunicationError, requests.RequestException, OSError) as error:
                        failure = repr(error)
                        time.sleep(0.1)
                    else:
                        return ""
                return failure

            done = pool.submit(upload)
            for _ in range(15):
                time.sleep(chance.uniform(0.02, 0.8))
                kill_a_worker(base)
                assert set(originals(api).values()) <= {data}
            assert done.result(100) == ""
        assert list(originals(api).values()) == [data]
        api.clock.present = datetime.now(UTC) + timedelta(days=4)
        with api.library.app.app_context():
            chores_of(current_service()).hourly()
        assert parts(api) == []


def test_an_import_that_is_killed_again_and_again_loses_nothing(tmp_path):
    chance = random.Random(11)
    with open_api(tmp_path) as api:
        card = tmp_path / "card"
        card.mkdir()
        given = {f"{number // 20}/IMG_{number}.jpg": picture(number) + chance.randbytes(90_000) for number in range(48)}
        for name, data in given.items():
            (card / name).parent.mkdir(exist_ok=True)
            (card / name).write_bytes(data)
        environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(api.library.instance), "PHOTOSVC_INDEX_WORKERS": "2"}
        kills = 0
        turns = 60
        for turn in range(turns):
            with open(os.devnull, "r+") as nothing:  # noqa: PTH123
                streams = (nothing.fileno(),) * 3
                run = forks.start("svc", "import", str(card), "--move", environ=environ, streams=streams)
            with suppress(subprocess.TimeoutExpired):
                run.wait(chance.uniform(0.1, 0.2 + turn / 20) if turn < turns - 1 else 120)
            if run.poll() is None:
                run.kill()
                run.wait(10)
                kills += 1
            left = {path.relative_to(card).as_posix(): path.read_bytes() for path in card.rglob("*.jpg")}
            stored = set(originals(api).values())
            assert stored <= set(given.values())
            assert left.items() <= given.items()
            assert stored | set(left.values()) == set(given.values())
            if run.returncode == 0:
                break
        assert kills > 2
        assert (run.returncode, left) == (0, {})
        assert sorted(originals(api).values()) == sorted(given.values())
        assert len(api.library.names(count=999)) == 48


def test_an_import_on_request_goes_on_at_once_after_its_indexer_was_killed(tmp_path):
    with open_api(tmp_path) as api:
        card = api.library.instance / "import"
        card.mkdir()
        given = {f"IMG_{number}.jpg": picture(number) + os.urandom(90_000) for number in range(110)}
        for name, data in given.items():
            (card / name).write_bytes(data)
            os.utime(card / name, (0, 0))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("photosvc.api.index_runs.wake_indexer", lambda _: Indexer.NONE)
            assert api.call("POST", "/import", api.app_password("ann", "*"), json={"move": True}).status_code == 200
        environ = {
            **SURROUNDINGS,
            "PHOTOSVC_INSTANCE": str(api.library.instance),
            "PHOTOSVC_INDEX_WORKERS": "1",
            "PHOTOSVC_WATCH_SETTLE": "0",
        }
        for least in (32, 64):
            ends = time.monotonic() + 40  # the lease of the killed process ends after 90 seconds
            with open(os.devnull, "r+") as nothing:  # noqa: PTH123
                run = forks.start("svc", "index", "--wished", environ=environ, streams=(nothing.fileno(),) * 3)
            while len(originals(api)) < least:
                assert time.monotonic() < ends
                time.sleep(0.02)
            run.kill()
            run.wait(10)
        assert set(originals(api).values()) <= set(given.values())


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, small_disk):
    originals_folder = tmp_path / "instance/originals"
    originals_folder.parent.mkdir()
    originals_folder.symlink_to(small_disk)
    with served(tmp_path) as (api, base, headers):
        large = picture(1) + bytes(5_000_000)
        assert post(api, base, headers, "x", ("a.jpg", large)).status_code == 507
        lengths = {"Tus-Resumable": "1.0.0", "Upload-Length": str(len(large))}
        assert requests.post(f"{base}/uploads", headers=headers | lengths, timeout=60).status_code == 507
        assert parts(api) == []
        assert post(api, base, headers, "y", ("a.jpg", picture(2))).status_code == 200
        filler = small_disk / "filler"
        with suppress(OSError), filler.open("wb") as file:
            file.write(bytes(5_000_000))
        answer = put(api, base, headers, "y")
        assert answer.status_code in {200, 507}
        filler.unlink()
        if answer.status_code == 507:
            assert put(api, base, headers, "y").json()["files"][0]["status"] == "added"
        assert originals(api) == {f"2024/05/20240501_120000_{sha1(picture(2))[:8].upper()}.jpg": picture(2)}
        card = tmp_path / "card"
        card.mkdir()
        (card / "1.jpg").write_bytes(picture(3))
        (card / "2.jpg").write_bytes(picture(4) + os.urandom(5_000_000))
        environ = {
            **SURROUNDINGS,
            "PHOTOSVC_INSTANCE": str(api.library.instance),
            "PHOTOSVC_ORIGINALS": str(small_disk),
        }
        done = forks.run("import", str(card), "--move", environ=environ, timeout=60)
        assert (done.returncode, "There is no space left" in done.stderr) == (1, True)
        assert sorted(path.name for path in card.iterdir()) in (["1.jpg", "2.jpg"], ["2.jpg"])
        assert parts(api) == []
