"""Labels that a model sees in pictures: turned on and off, searched, taken away, kept and erased."""

import json
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageOps

import photosvc.samples
from photosvc.library.job_runner import JobRunner
from photosvc.models.engine import write_session
from photosvc.sight import runs
from photosvc.web.service import current_service
from tests.helpers.library import svc
from tests.helpers.pictures import jpeg

SAMPLES = Path(photosvc.samples.__file__).parent / "originals"


@cache
def balloons(quality=90):
    """A picture of balloons without metadata, as JPEG."""
    sink = BytesIO()
    with Image.open(SAMPLES / "2022/valley-balloons.jpg") as picture:
        ImageOps.exif_transpose(picture).save(sink, "JPEG", quality=quality)
    return sink.getvalue()


@pytest.fixture(scope="module")
def filled(fill):
    """A library whose pictures were all looked at."""
    library = fill({"valley.jpg": balloons(), "plain.jpg": jpeg(320, 240), "balloon trip.jpg": jpeg(330, 240)})
    assert svc("sight", "on", instance=library.instance).stderr.startswith("On. 3 pictures due; ")
    assert svc("sight", "run", instance=library.instance).stdout == "3 looked at, 0 failed\n"
    return library


@pytest.fixture
def sight(library):
    """A function that runs a command of `svc sight`."""
    return lambda *arguments: svc("sight", *arguments, instance=library.instance)


@pytest.fixture
def uid(library):
    return library.find(q="name:valley")[0]["UID"]


def labels_of(photo):
    return [(label["Label"]["Name"], label["LabelSrc"]) for label in photo["Labels"]]


def test_nothing_is_looked_at_before_sight_is_on(library, sight):
    sight("erase", "--yes")
    done = sight("run")
    assert (done.returncode, done.stderr) == (1, "Error: Sight is off; turn it on with `svc sight on`.\n")
    assert json.loads(sight("status", "--json").stdout) == {
        "on": False, "done": 0, "failed": 0, "due": 3, "labelled": 0,
    }  # fmt: skip
    assert library.names(q="label:balloon") == []


@pytest.mark.parametrize("query", ["label:balloon", "label:balloon|zebra", "labels:Ballon", "globo", "balloon -trip"])
def test_a_photo_is_found_by_what_it_shows_in_each_language(library, query):
    assert library.names(q=query) == ["valley.jpg"]


def test_photos_with_the_typed_word_come_before_those_that_only_show_it(library):
    assert library.names(q="balloon", order="relevance") == ["balloon trip.jpg", "valley.jpg"]
    assert library.names(q="-balloon") == ["plain.jpg"]


def test_a_seen_label_has_its_source_and_doubt_and_is_no_keyword(library, call, uid):
    photo = call("GET", f"/photos/{uid}")
    (label,) = photo["Labels"]
    assert (label["Label"]["Name"], label["LabelSrc"], 5 < label["Uncertainty"] < 45) == ("Balloon", "image", True)
    assert photo["Details"]["Keywords"] == ""
    assert library.names(q="keywords:balloon") == []


@pytest.mark.parametrize("key", ["LabelID", "UID"])
def test_a_label_taken_away_by_hand_never_returns_but_by_undo(library, call, sight, uid, key):
    (label,) = call("GET", f"/photos/{uid}")["Labels"]
    address = f"/photos/{uid}/label/{label['LabelID'] if key == 'LabelID' else label['Label']['UID']}"
    assert call("DELETE", address)["Labels"] == []
    call("DELETE", address, 404)
    assert sight("erase", "--yes").returncode == sight("on").returncode == sight("run").returncode == 0
    library.index(force=True)
    assert (call("GET", f"/photos/{uid}")["Labels"], library.names(q="label:balloon")) == ([], [])
    (change,) = call("GET", f"/photos/{uid}/history")
    call("POST", f"/photos/{uid}/history/{change['ID']}/undo")
    assert library.names(q="label:balloon") == ["valley.jpg"]


def test_a_confirmed_label_is_a_keyword_and_if_that_is_removed_the_picture_does_not_give_it_back(library, call, uid):
    (label,) = call("GET", f"/photos/{uid}")["Labels"]
    photo = call("PUT", f"/photos/{uid}/label/{label['LabelID']}", json={"Uncertainty": 0})
    assert (labels_of(photo), photo["Details"]["Keywords"]) == ([("Balloon", "manual")], "Balloon")
    assert call("DELETE", f"/photos/{uid}/label/{photo['Labels'][0]['LabelID']}")["Labels"] == []


def test_a_picture_is_looked_at_again_only_if_its_content_changed(library, sight):
    assert sight("run").stdout == "0 looked at, 0 failed\n"
    library.put("plain.jpg", balloons(80), age=60)
    library.index()
    assert sight("run").stdout == "1 looked at, 0 failed\n"
    assert library.names(q="label:balloon") == ["plain.jpg", "valley.jpg"]


def test_a_picture_that_is_away_is_looked_at_when_it_is_back(library, sight):
    sight("erase", "--yes")
    sight("on")
    picture = library.originals / "valley.jpg"
    picture.rename(library.originals.parent / "aside")
    assert sight("run").stdout == "2 looked at, 1 failed\n"
    (library.originals.parent / "aside").rename(picture)
    assert sight("run").stdout == "1 looked at, 0 failed\n"
    assert library.names(q="label:balloon") == ["valley.jpg"]


def test_an_indexer_looks_at_what_an_index_run_brought_until_sight_is_off(library):
    with library.app.app_context():
        settings, engine = current_service().settings, current_service().engine()
    runner = JobRunner(engine, settings, library.clock)
    try:
        with write_session(engine) as session:
            runs.turn_off(session, library.clock)
        library.put("second.jpg", balloons(80))
        library.index()
        assert not runner.waits()
        with write_session(engine) as session:
            runs.turn_on(session, library.clock)
        while runner.step():
            continue
        assert library.names(q="label:balloon") == ["second.jpg", "valley.jpg"]
        library.index()
        assert runner.waits()
        with write_session(engine) as session:
            runs.turn_off(session, library.clock)
        assert not runner.waits()
        assert library.names(q="label:balloon") == ["second.jpg", "valley.jpg"]
    finally:
        runner.close()


def test_erased_labels_are_gone_while_keywords_stay(library, call, sight, uid):
    call("POST", f"/photos/{uid}/label", json={"Name": "Trip"})
    refused = sight("erase")
    assert refused.returncode == 2
    assert sight("erase", "--yes").stderr == "Off. The labels of 1 photo are removed.\n"
    assert labels_of(call("GET", f"/photos/{uid}")) == [("Trip", "manual")]
    assert json.loads(sight("status", "--json").stdout) == {
        "on": False, "done": 0, "failed": 0, "due": 3, "labelled": 0,
    }  # fmt: skip
