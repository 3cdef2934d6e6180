"""`similar=UID`, and `svc duplicates`: pictures that look alike."""

import json

import pytest
from PIL import Image

from tests.helpers.library import call_svc, open_library
from tests.helpers.pictures import clouds, encoded


@pytest.fixture(scope="module")
def alike_library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("looks") / "instance")
    library.put("a/lake.jpg", encoded(clouds(1, 640, 480), "JPEG", quality=90))
    library.put("b/lake-small.jpg", encoded(clouds(1), "JPEG", quality=40))
    library.put("b/lake.png", encoded(clouds(1, 500, 375), "PNG"))
    library.put("c/hill.jpg", encoded(clouds(2), "JPEG"))
    library.put("c/plain.png", encoded(Image.new("RGB", (64, 48), "navy"), "PNG"))
    library.put("c/plain-too.png", encoded(Image.new("RGB", (65, 48), "navy"), "PNG"))
    library.index()
    yield library
    library.close()


@pytest.fixture(scope="module")
def uids(alike_library):
    return {record["FileName"]: record["UID"] for record in alike_library.find()}


def names(library, **parameters):
    return [record["FileName"] for record in library.find(order="name", **parameters)]


LAKES = ["a/lake.jpg", "b/lake.png", "b/lake-small.jpg"]


def test_similar_finds_copies_of_other_sizes_and_formats_and_the_photo_itself(alike_library, uids):
    for name in LAKES:
        assert sorted(names(alike_library, similar=uids[name])) == sorted(LAKES)
    assert names(alike_library, similar=uids["c/hill.jpg"]) == ["c/hill.jpg"]


def test_similar_combines_with_other_filters(alike_library, uids):
    assert names(alike_library, q=f"similar:{uids['a/lake.jpg']} path:b/*|b -filename:*.png") == ["b/lake-small.jpg"]
    assert names(alike_library, q=f"-similar:{uids['a/lake.jpg']} path:c") == names(alike_library, path="c")


def test_a_picture_of_one_colour_is_similar_to_none(alike_library, uids):
    assert names(alike_library, similar=uids["c/plain.png"]) == []


def test_similar_to_an_unknown_photo_is_not_found(alike_library):
    answer = alike_library.get({"similar": "pzzzzzzzzzzzzzzz"})
    assert (answer.status_code, answer.get_json()["details"][0]["field"]) == (404, "similar")


def test_duplicates_are_groups_with_the_best_file_first(alike_library, uids):
    answer = call_svc("duplicates", "--json", instance=alike_library.instance)
    [group] = json.loads(answer.stdout)
    assert [(copy["name"], copy["uid"], copy["width"]) for copy in group] == [
        (name, uids[name], width)
        for name, width in (("a/lake.jpg", 640), ("b/lake.png", 500), ("b/lake-small.jpg", 320))
    ]
    assert group[0]["distance"] == 0
    assert all(copy["distance"] <= 4 for copy in group)
    assert (answer.returncode, answer.stderr) == (0, "")


def test_duplicates_are_a_table_too(alike_library, uids):
    lines = call_svc("duplicates", "--csv", instance=alike_library.instance).stdout.splitlines()
    size = (alike_library.originals / "a/lake.jpg").stat().st_size
    assert lines[:2] == ["Group,UID,Bytes,Pixels,Bits,File", f"1,{uids['a/lake.jpg']},{size},640x480,0,a/lake.jpg"]
    assert len(lines) == 4


def test_more_than_four_bits_are_refused(alike_library):
    answer = call_svc("duplicates", "--distance", "5", instance=alike_library.instance)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "0<=x<=4" in answer.stderr
