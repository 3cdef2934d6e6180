from dataclasses import replace
from datetime import UTC, datetime

import pytest

from photosvc.index.sidecar_formats import SidecarKind
from photosvc.index.sidecar_values import StoredSidecar, marked, ranked, with_sidecars
from photosvc.media.metadata import Metadata, Region

NOON = datetime(2020, 1, 31, 12)  # noqa: DTZ001 - wall time
LATER = datetime(2021, 5, 6, 7)  # noqa: DTZ001 - wall time


def sidecar(kind, name="a.xmp", **values):
    return StoredSidecar(name, kind, Metadata(**values))


def test_texts_come_from_xmp_takeout_file_exiftool_and_facts_from_xmp_file_takeout_exiftool():
    for kinds, values in (
        ((SidecarKind.XMP, SidecarKind.TAKEOUT, SidecarKind.EXIFTOOL), (SidecarKind.XMP, SidecarKind.XMP)),
        ((SidecarKind.TAKEOUT, SidecarKind.EXIFTOOL), (SidecarKind.TAKEOUT, "file")),
        ((SidecarKind.EXIFTOOL,), ("file", "file")),
    ):
        own = Metadata(description="file", camera_model="file")
        told = [sidecar(kind, description=kind, camera_model=kind) for kind in kinds]
        for order in (told, told[::-1]):
            found = with_sidecars(own, order).metadata
            assert (found.description, found.camera_model) == values


def test_what_a_file_lacks_comes_from_takeout_before_exiftool():
    told = [sidecar(SidecarKind.EXIFTOOL, lat=3.0, lng=4.0, iso=200), sidecar(SidecarKind.TAKEOUT, lat=1.0, lng=2.0)]
    found = with_sidecars(Metadata(), told).metadata
    assert (found.lat, found.lng, found.iso) == (1.0, 2.0, 200)


def test_the_source_of_a_value_is_told():
    found = with_sidecars(Metadata(title="file"), [sidecar(SidecarKind.XMP, description="edited", lat=1.0, lng=2.0)])
    assert [found.source_of(*names) for names in (("title",), ("description",), ("lat", "lng"), ("artist",))] == [
        "meta", "xmp", "xmp", "",
    ]  # fmt: skip


def test_a_copied_wall_time_does_not_drop_the_offset_of_the_file():
    own = Metadata(taken_local=NOON.replace(microsecond=500_000), utc_offset=60)
    copied = with_sidecars(own, [sidecar(SidecarKind.XMP, taken_local=NOON)])
    assert (copied.metadata, copied.source_of("taken_local")) == (own, "meta")
    changed = with_sidecars(own, [sidecar(SidecarKind.XMP, taken_local=LATER)])
    assert (changed.metadata.taken_local, changed.metadata.utc_offset) == (LATER, None)
    assert changed.source_of("taken_local") == "xmp"


PARIS = {"lat": 48.8584, "lng": 2.2945}


@pytest.mark.parametrize("kind", [SidecarKind.XMP, SidecarKind.EXIFTOOL])
@pytest.mark.parametrize(
    ("own", "written", "local", "offset"),
    [
        ({"taken_local": NOON, "utc_offset": 60}, {"hour": 11}, {"hour": 12}, 60),
        ({"taken_local": NOON, "utc_offset": 60}, {"hour": 10}, {"hour": 11}, 60),
        ({"taken_local": NOON, **PARIS}, {"hour": 11}, {"hour": 12}, None),
        ({"taken_local": NOON, **PARIS}, {"month": 7, "hour": 10}, {"month": 7, "hour": 12}, 120),
        ({"taken_local": NOON}, {"hour": 10}, {"hour": 10}, 0),
        (PARIS, {"hour": 11}, {"hour": 12}, 60),
        ({}, {"hour": 11}, {"hour": 11}, 0),
    ],
)
def test_a_time_that_a_sidecar_writes_in_utc_is_shown_in_the_zone_of_the_picture(kind, own, written, local, offset):
    told = [sidecar(kind, taken_local=NOON.replace(**written), utc_offset=0)]
    found = with_sidecars(Metadata(**own), told).metadata
    if kind is SidecarKind.EXIFTOOL and "taken_local" in own:  # whose time yields to that of the file
        local, offset = {}, own.get("utc_offset")
    assert (found.taken_local, found.utc_offset) == (NOON.replace(**local), offset)


def test_a_time_in_utc_is_shown_in_the_zone_of_the_service_where_the_picture_tells_none():
    for hour, source in ((11, "meta"), (10, "xmp")):
        told = [sidecar(SidecarKind.XMP, taken_local=NOON.replace(hour=hour), utc_offset=0)]
        found = with_sidecars(Metadata(taken_local=NOON), told, "Europe/Paris")
        assert (found.metadata.taken_local, found.metadata.utc_offset) == (NOON.replace(hour=hour + 1), None)
        assert found.source_of("taken_local") == source, hour


def test_the_time_of_takeout_yields_to_that_of_the_file():
    utc = datetime(2019, 1, 1, tzinfo=UTC)
    told = [sidecar(SidecarKind.TAKEOUT, taken_utc=utc)]
    assert with_sidecars(Metadata(taken_local=NOON), told).metadata.taken_utc is None
    assert with_sidecars(Metadata(), told).metadata.taken_utc == utc


def test_an_adjusted_picture_is_edited_whatever_else_is_known():
    assert with_sidecars(Metadata(), [sidecar(SidecarKind.APPLE, edited=True)]).metadata.edited


def test_the_most_specific_sidecar_comes_first_and_only_one_of_takeout_counts():
    told = [
        replace(sidecar(kind, name), picture="x/a-edited.jpg")
        for kind, name in (
            (SidecarKind.TAKEOUT, "x/a.jpg.json"),
            (SidecarKind.TAKEOUT, "x/a-edited.jpg.json"),
            (SidecarKind.XMP, "x/a-edited.xmp"),
            (SidecarKind.XMP, "x/a-edited.jpg.xmp"),
        )
    ]
    assert [one.name for one in ranked(told)] == [
        "x/a-edited.jpg.xmp", "x/a-edited.xmp", "x/a-edited.jpg.json",
    ]  # fmt: skip


def area(name, kind="face"):
    return Region(name, kind, 0.1, 0.2, 0.3, 0.4)


def test_areas_of_xmp_replace_those_of_the_file_and_turn_with_it():
    told = [sidecar(SidecarKind.XMP, regions=(area("Ada"),))]
    assert list(marked([area("Bob")], 3, told)) == [("xmp", Region("Ada", "face", 0.6, 0.4, 0.3, 0.4))]
    assert list(marked([area("Bob")], 3, [])) == [("meta", area("Bob"))]


def test_people_of_takeout_are_added_unless_an_area_names_them():
    told = [sidecar(SidecarKind.TAKEOUT, regions=(area("ada", ""), area("Eve", "")))]
    assert list(marked([area("Ada")], 1, told)) == [("meta", area("Ada")), ("meta", area("Eve", ""))]
