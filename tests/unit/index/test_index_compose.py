from datetime import UTC, datetime, timedelta

import pytest

from photosvc.core.problems import Problem, Reason
from photosvc.index.describe import StackedFile, merged_metadata, photo_type, primary_index
from photosvc.index.extract import Extraction
from photosvc.media.metadata import Metadata

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WALL = NOW.replace(tzinfo=None)
HOUR = 3_600_000_000_000


def part(name="a.jpg", *, metadata=None, **values):
    plain = {
        "hash": "0" * 40, "size": 1, "mtime_ns": int(NOW.timestamp() * 1e9) - 100 * HOUR, "file_type": "jpg",
        "media_type": "image", "mime": "image/jpeg", "metadata": metadata or Metadata(),
    }  # fmt: skip
    return StackedFile(name, Extraction(**{**plain, **values}))


RAW, VIDEO = {"file_type": "dng", "media_type": "raw"}, {"file_type": "mov", "media_type": "video"}
BROKEN = {"problem": Problem(Reason.UNDECODABLE)}
IDENTIFIED = Metadata(content_id="A")
HEIC, GIF = {"file_type": "heic"}, {"file_type": "gif", "media_type": "animated"}


@pytest.mark.parametrize(
    ("parts", "primary"),
    [
        ([RAW, {}], 1),
        ([VIDEO, HEIC], 1),
        ([HEIC, {}], 1),
        ([BROKEN, RAW], 1),
        ([BROKEN, BROKEN], 0),
        ([{"width": 10}, {"width": 20}], 1),
        ([{}, {}], 0),
        ([VIDEO], 0),
    ],
)
def test_the_file_that_every_viewer_reads_leads(parts, primary):
    assert primary_index([part(**values) for values in parts]) == primary


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([{}], "image"),
        ([{}, RAW], "raw"),
        ([VIDEO], "video"),
        ([HEIC, {**VIDEO, "duration_ns": 3_000_000_000}], "live"),
        ([{}, {**VIDEO, "duration_ns": 3_100_000_000}], "live"),
        ([{}, {**VIDEO, "duration_ns": 3_100_000_001}], "image"),
        ([{}, VIDEO], "image"),
        ([{"metadata": IDENTIFIED}, {**VIDEO, "duration_ns": 9 * 10**9, "metadata": IDENTIFIED}], "live"),
        ([{"metadata": IDENTIFIED}, {**VIDEO, "duration_ns": 9 * 10**9}], "image"),
        ([GIF, {**VIDEO, "duration_ns": 1}], "video"),
        ([GIF], "animated"),
        ([GIF, {}], "image"),
    ],
)
def test_the_type_is_the_most_telling_its_files_allow(parts, kind):
    assert photo_type([part(**values) for values in parts]) == kind


def test_the_cameras_own_file_is_believed_and_others_fill_what_it_leaves_empty():
    jpeg = part("a.jpg", metadata=Metadata(title="edited", iso=100, lat=1.0, lng=2.0, altitude=3))
    raw = part("a.dng", metadata=Metadata(iso=200, camera_make="Maker", lat=5.0, lng=6.0), **RAW)
    found = merged_metadata([jpeg, raw])
    assert (found.iso, found.camera_make, found.title, found.lat, found.lng) == (200, "Maker", "edited", 5.0, 6.0)


def test_the_cover_of_a_burst_shows_it_and_an_edited_copy_adds_only_what_the_original_lacks():
    frames = [part(f"IMG_1_BURST00{number}{cover}.jpg") for number, cover in ((1, ""), (2, "_COVER"), (3, ""))]
    assert primary_index(frames) == 1
    copy = part("a-edited.heic", metadata=Metadata(iso=1, title="edited"), **HEIC)
    found = merged_metadata([copy, part("a.jpg", metadata=Metadata(iso=100))])
    assert (found.iso, found.title) == (100, "edited")


def test_a_time_is_taken_whole_from_one_file():
    local = WALL - timedelta(days=3)
    first = part("a.dng", metadata=Metadata(taken_local=local), **RAW)
    second = part("a.jpg", metadata=Metadata(taken_local=WALL, utc_offset=120, taken_utc=NOW))
    found = merged_metadata([first, second])
    assert (found.taken_local, found.utc_offset, found.taken_utc) == (local, None, None)
