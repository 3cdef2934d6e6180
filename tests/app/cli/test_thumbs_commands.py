"""`svc thumbs`, `svc index --thumbs`, `svc cache` and `svc show sizes`."""

import json

import pytest

from photosvc.pictures.sizes import NAMED
from tests.app.pictures.picture_client import PictureClient
from tests.helpers.library import svc
from tests.helpers.pictures import encoded, jpeg, quarters

USUAL = ["fit_1280.jpg", "fit_1920.jpg", "fit_360.jpg", "fit_720.jpg", "tile_100.jpg", "tile_224.jpg", "tile_500.jpg"]


@pytest.fixture
def pictures(api):
    pictures = PictureClient(api)
    pictures.library.put("large.jpg", jpeg(2400, 1200))
    pictures.library.put("2020/small.png", encoded(quarters(60, 40), "PNG"))
    return pictures


def cached(pictures, name):
    """The names in the cache of one file's pictures."""
    content_hash = pictures.hash_of(name)
    found = pictures.cache().folder.glob(f"pictures/?/?/?/{content_hash}_*")
    return sorted(path.name.partition("_")[2] for path in found)


def test_thumbs_makes_the_usual_sizes_of_all_pictures_and_keeps_present_ones(api, pictures):
    pictures.library.index()
    done = api.svc("thumbs")
    assert (done.returncode, done.stdout) == (0, "11 made, 0 kept, 0 failed\n")
    assert cached(pictures, "large.jpg") == USUAL
    assert cached(pictures, "2020/small.png") == ["fit_720.jpg", "tile_100.jpg", "tile_224.jpg", "tile_500.jpg"]
    assert api.svc("thumbs").stdout == "0 made, 11 kept, 0 failed\n"


def test_thumbs_takes_sizes_and_a_query(api, pictures):
    pictures.library.index()
    done = api.svc("thumbs", "--sizes", "tile_50, fit_1280", "--json", "path:2020")
    assert json.loads(done.stdout) == {"made": 2, "kept": 0, "failed": []}
    assert cached(pictures, "2020/small.png") == ["fit_720.jpg", "tile_50.jpg"]
    assert cached(pictures, "large.jpg") == []


def test_thumbs_refuses_sizes_and_queries_that_do_not_exist(api, pictures):
    done = api.svc("thumbs", "--sizes", "tile_50,huge")
    assert done.returncode == 2
    assert "there is no size huge; `svc show sizes` lists them" in done.stderr
    assert api.svc("thumbs", "nonsense:1").returncode == 2


def test_thumbs_reports_unreadable_pictures_and_continues(api, pictures):
    pictures.library.index()
    (pictures.library.originals / "large.jpg").unlink()
    done = api.svc("thumbs")
    assert done.returncode == 1
    assert done.stdout == "4 made, 0 kept, 1 failed\n"
    assert done.stderr == "failed large.jpg: The file has changed since it was indexed; an index run is due.\n"


def test_index_with_thumbs_makes_the_usual_sizes_of_the_files_that_it_reads(api, pictures):
    done = api.svc("index", "--thumbs")
    assert done.returncode == 0
    assert done.stdout.startswith(
        "2 indexed, 0 updated, 0 unchanged, 0 missing, 0 skipped, 0 failed, 11 thumbnails made"
    )
    assert cached(pictures, "large.jpg") == USUAL
    assert pictures.pixels(pictures.hash_of("large.jpg"), "fit_1280").size == (1280, 640)
    again = json.loads(api.svc("index", "--thumbs", "--json", "--force").stdout.splitlines()[-1])
    assert (again["updated"], again["thumbnails"]) == (2, 0), again
    assert "thumbnails" not in json.loads(api.svc("index", "--json").stdout.splitlines()[-1])


def test_index_with_thumbs_on_a_cache_that_cannot_be_written_indexes(api, pictures):
    (pictures.library.instance / "cache").mkdir()
    (pictures.library.instance / "cache" / "pictures").write_bytes(b"no folder")
    done = api.svc("index", "--thumbs")
    assert done.stdout.startswith(
        "2 indexed, 0 updated, 0 unchanged, 0 missing, 0 skipped, 0 failed, 0 thumbnails made"
    )


def test_cache_status_counts_and_clear_removes_after_a_question(api, pictures):
    pictures.library.index()
    api.svc("thumbs", "--sizes", "tile_100")
    size = sum(path.stat().st_size for path in pictures.cache().folder.glob("pictures/**/*.jpg"))
    assert json.loads(api.svc("cache", "status", "--json").stdout) == {
        "folder": str(pictures.library.instance / "cache"),
        "files": 2,
        "bytes": size,
        "limit": 20_480 << 20,
    }
    assert api.svc("cache", "clear").returncode != 0
    assert len(cached(pictures, "large.jpg")) == 1
    done = api.svc("cache", "clear", "--yes")
    assert (done.returncode, done.stderr) == (0, f"2 files of {size:,} bytes removed.\n")
    assert json.loads(api.svc("cache", "status", "--json").stdout)["files"] == 0


def test_show_sizes_lists_every_size(api):
    rows = json.loads(api.svc("show", "sizes", "--json").stdout)
    assert [row["size"] for row in rows] == list(NAMED)
    assert rows[1] == {
        "size": "tile_100",
        "width": 100,
        "height": 100,
        "shows": "100 x 100 square, cropped to the centre",
        "usual": True,
    }
    assert sorted(f"{row['size']}.jpg" for row in rows if row["usual"]) == USUAL


@pytest.mark.parametrize("command", ["thumbs", "index --thumbs"])
def test_an_unwritable_cache_is_named_with_a_remedy(pictures, tmp_path, command):
    library = pictures.library
    if command == "thumbs":
        library.index()
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "pictures").write_bytes(b"")
    done = svc(*command.split(), instance=library.instance, environ={"PHOTOSVC_CACHE": str(folder)})
    assert done.returncode == 1
    assert (
        f"The folder of derived files {folder} cannot be written (not a directory). "
        "Free space on its disk, or set PHOTOSVC_CACHE to another folder.\n"
    ) in done.stderr
