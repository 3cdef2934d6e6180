"""Records without metadata: each field of a record is either told or has a value that tells nothing."""

import orjson

from photosvc.records.photo import (
    FILE_TOLD,
    FILE_UNTOLD,
    OPTIONAL,
    TOLD,
    UNTOLD,
    FileSchema,
    PhotoResultSchema,
    bare_file,
    bare_head,
)


def test_every_field_of_a_result_is_told_or_not():
    known = {*TOLD, *UNTOLD, "TakenAt", *OPTIONAL, "Merged", "Files"}
    assert known == set(PhotoResultSchema().fields)
    assert not TOLD & UNTOLD.keys()


def test_every_field_of_a_file_is_told_or_not():
    assert {*FILE_TOLD, *FILE_UNTOLD} == set(FileSchema().fields)
    assert not FILE_TOLD & FILE_UNTOLD.keys()


def test_the_time_in_utc_does_not_tell_the_time_zone():
    head = orjson.dumps({"TakenAt": "2021-07-01T08:00:00Z", "TakenAtLocal": "2021-07-01T10:00:00Z"})[:-1].decode()
    assert orjson.loads(bare_head(head) + "}")["TakenAt"] == "2021-07-01T10:00:00Z"


def test_optional_fields_are_left_out_unless_they_are_told():
    head = orjson.dumps({"TakenAtLocal": "x", "Faces": 2, "Altitude": 300, "Duration": 5, "CameraType": "y"})[:-1]
    assert orjson.loads(bare_head(head.decode()) + "}") == {"TakenAtLocal": "x", "Duration": 5}


def test_a_file_keeps_its_measures_and_loses_its_name_and_areas():
    file = {"UID": "f", "Name": "beach/ada.jpg", "Markers": [{"Name": "Ada"}], "Width": 3}
    assert orjson.loads(bare_file(orjson.dumps(file).decode())) == {"UID": "f", "Name": "", "Markers": [], "Width": 3}
