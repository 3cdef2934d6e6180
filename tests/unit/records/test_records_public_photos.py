"""Records without metadata: each field is public or has an empty value."""

import orjson

from photosvc.core.ids import alias, is_uid, row_id_of
from photosvc.records.photos import OPTIONAL, FileSchema, PhotoResultSchema
from photosvc.records.public_photos import (
    EMPTY,
    FILE_EMPTY,
    FILE_PUBLIC,
    PUBLIC,
    public_file,
    public_head,
)

KEY = b"key"


def test_every_field_of_a_result_is_public_or_empty():
    known = {*PUBLIC, "ID", "UID", "FileUID", *EMPTY, "TakenAt", *OPTIONAL, "Merged", "Files"}
    assert known == set(PhotoResultSchema().fields)
    assert not PUBLIC & EMPTY.keys()


def test_every_field_of_a_file_is_public_or_empty():
    assert {*FILE_PUBLIC, "UID", "PhotoUID", *FILE_EMPTY} == set(FileSchema().fields)
    assert not FILE_PUBLIC & FILE_EMPTY.keys()


def test_the_time_in_utc_does_not_reveal_the_time_zone():
    times = {"TakenAt": "2021-07-01T08:00:00Z", "TakenAtLocal": "2021-07-01T10:00:00Z"}
    head = orjson.dumps({"ID": "1-2", **times})[:-1].decode()
    assert orjson.loads(public_head(head, KEY) + "}")["TakenAt"] == "2021-07-01T10:00:00Z"


def test_optional_fields_are_left_out_unless_they_are_public():
    optional = {"Faces": 2, "Altitude": 300, "Duration": 5, "CameraType": "y"}
    head = orjson.dumps({"ID": "1-2", "TakenAtLocal": "x", **optional})[:-1]
    found = orjson.loads(public_head(head.decode(), KEY) + "}")
    assert found == {"ID": found["ID"], "TakenAtLocal": "x", "Duration": 5}


def test_a_file_keeps_its_measures_and_loses_its_name_and_areas():
    file = {"UID": "f", "Name": "beach/ada.jpg", "Markers": [{"Name": "Ada"}], "Width": 3}
    found = orjson.loads(public_file(orjson.dumps(file).decode(), KEY, 1, 2))
    assert found == {"UID": alias("f", 2, KEY), "Name": "", "Markers": [], "Width": 3}


def test_an_alias_leads_back_to_its_row_with_the_key_of_its_link_alone():
    for number in (0, 1, 2, 10**9, (1 << 63) - 1):
        text = alias("p", number, KEY)
        assert is_uid(text, "p"), number
        assert row_id_of("p", text, KEY) == number
        assert row_id_of("p", text, b"other") != number
        assert row_id_of("f", text, KEY) is row_id_of("p", "p" + "z" * 15, KEY) is row_id_of("p", "", KEY) is None, (
            number
        )


def test_aliases_of_neighbouring_rows_have_nothing_in_common():
    found = [alias("p", number, KEY) for number in range(1000)]
    assert len({text[-8:] for text in found}) == 1000
    assert len({text[:5] for text in found}) > 900
