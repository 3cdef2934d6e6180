"""Index runs in processes of their own: without decoders, without rights, and after a kill."""

import os
import signal
import subprocess
import sys

from sqlalchemy import select

from photosvc.models import Job
from tests.helpers.library import SURROUNDINGS, SVC, counts, svc
from tests.helpers.pictures import dng, heic, jpeg, video

WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(("pillow_heif", "rawpy", "av", "numpy")))
"""


def test_without_the_optional_decoders_jpeg_is_indexed_and_the_rest_says_what_it_needs(library, tmp_path):
    library.put("a.jpg", jpeg())
    library.put("b.heic", heic())
    dng(library.put("c.dng", b""))
    video(library.put("d.mp4", b""))
    blocker = tmp_path / "without"
    blocker.mkdir()
    (blocker / "sitecustomize.py").write_text(WITHOUT)
    path = os.pathsep.join(filter(None, (str(blocker), SURROUNDINGS.get("PYTHONPATH"))))
    first = svc("index", instance=library.instance, environ={"PYTHONPATH": path})
    reason = "needs the extra \"{0}\": pip install 'photosvc[{0}]'"
    assert sorted(first.stderr.splitlines()) == [  # workers finish in any order
        f"skipped b.heic: {reason.format('heic')}",
        f"skipped c.dng: {reason.format('raw')}",
        f"skipped d.mp4: {reason.format('video')}",
    ]
    assert first.returncode == 0
    assert library.names() == ["a.jpg"]
    again = svc("index", instance=library.instance, environ={"PYTHONPATH": path})
    assert again.stdout.startswith("0 indexed, 0 updated, 1 unchanged, 0 missing, 3 skipped, 0 failed")
    assert counts(library.index())[:4] == (0, 3, 1, 0)
    assert library.names() == ["a.jpg", "b.heic", "c.dng", "d.mp4"]


def run_program(library, block):
    """Run these lines with a service of the library in a program without a main guard."""
    program = f"""
import os, signal
from sqlalchemy.orm import Session
from photosvc.app import create_app
from photosvc.index.requests import run_lock
from photosvc.index.run import IndexOptions, run_index
from photosvc.web.service import current_service
app = create_app(instance={str(library.instance)!r}, environ={{"PHOTOSVC_BASE_URL": "https://photos.example.org"}})
with app.app_context():
    service = current_service()
    with Session(service.engine()) as session:
        {block}
"""
    return subprocess.run(
        [sys.executable, "-c", program], env=SURROUNDINGS, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_run_needs_no_main_guard_in_the_calling_program(library):
    library.put("a.jpg", jpeg())
    run = "print(run_index(session, service.settings, service.clock, IndexOptions(workers=2)).indexed)"
    done = run_program(library, run)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_the_next_run_on_the_same_machine_takes_over_at_once_from_one_that_was_killed(library):
    def leased_until():
        with library.session() as session:
            return session.scalar(select(Job.leased_until).where(Job.state == "running"))

    lock = "with run_lock(session, service.settings, service.clock): os.kill(os.getpid(), signal.SIGKILL)"
    assert run_program(library, lock).returncode == -signal.SIGKILL
    assert leased_until() > library.clock()
    assert counts(library.index()) == (0, 0, 0, 0, 0, 0)
    assert leased_until() is None


#: Root without its right to read everything (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH) is bound by modes as others are.
AS_OTHERS = """
import ctypes, os, sys
if os.getuid() == 0:
    for capability in (1, 2):
        assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_what_cannot_be_read_is_reported_and_read_as_soon_as_it_can(library):
    library.put("open.jpg", jpeg())
    closed = library.put("closed.jpg", jpeg(80, 48))
    library.put("folder/inside.jpg", jpeg(90, 48))
    library.put("known/inside.jpg", jpeg(100, 48))
    library.index(subfolder="known")
    paths = (closed, library.originals / "folder", library.originals / "known")
    for path in paths:
        path.chmod(0)

    def run():
        return svc("index", instance=library.instance, command=(sys.executable, "-c", AS_OTHERS, str(SVC)))

    for expected in ("1 indexed, 0 updated, 0 unchanged", "0 indexed, 0 updated, 1 unchanged"):
        done = run()
        assert done.stderr.splitlines() == [
            "failed folder: the folder cannot be read: permission denied",
            "failed known: the folder cannot be read: permission denied",
            "failed closed.jpg: the file cannot be read: permission denied",
        ]
        assert done.stdout.startswith(f"{expected}, 0 missing, 0 skipped, 3 failed")
        assert done.returncode == 1
    assert library.names() == ["known/inside.jpg", "open.jpg"]
    for path in paths:
        path.chmod(0o755)
    assert run().stdout.startswith("2 indexed, 0 updated, 2 unchanged, 0 missing, 0 skipped, 0 failed")
