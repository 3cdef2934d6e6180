from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.media.metadata import Metadata, Region
from photosvc.media.xmp import Xmp, read_xmp, read_xmp_sidecar
from photosvc.media.xmp_regions import upright
from tests.helpers.examples import examples
from tests.helpers.pictures import xmp


def bag(name: str, *values: str, kind: str = "Bag") -> str:
    return f"<{name}><rdf:{kind}>{''.join(f'<rdf:li>{value}</rdf:li>' for value in values)}</rdf:{kind}></{name}>"


def metadata_of(properties: str = "", attributes: str = "") -> Metadata:
    return read_xmp(xmp(properties, attributes)).metadata


def test_every_field_of_an_editor_is_read():
    found = read_xmp(
        xmp(
            bag("dc:title", "Harbour", kind="Alt")
            + bag("dc:description", "Ships &amp; gulls", kind="Alt")
            + bag("dc:subject", "sea", "ship")
            + bag("dc:creator", "Ann", "Bob", kind="Seq")
            + bag("dc:rights", "CC BY", kind="Alt")
            + bag("lr:hierarchicalSubject", "Places|Italy|Rome", "sea")
            + '<cc:license rdf:resource="https://creativecommons.org/licenses/by/4.0/"/>',
            'xmp:Rating="4" photoshop:DateCreated="2022-01-10T15:15:44.31-04:00" xmpMM:DocumentID="doc" '
            'xmpMM:InstanceID="xmp.iid:1" xmpMM:OriginalDocumentID="original" xmpMM:PreservedFileName="DSC1.ARW" '
            'GPano:ProjectionType="Equirectangular" exif:GPSLatitude="39,6.9N" exif:GPSLongitude="108,24,3.6W" '
            'exif:GPSAltitude="14839/10" exif:GPSAltitudeRef="0" exif:GPSTimeStamp="2022-01-10T19:15:33Z" '
            'tiff:Make="Canon" tiff:Model="Canon EOS R" aux:Lens="RF 50mm" aux:SerialNumber="77" '
            'xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" GCamera:BurstID="b-7"',
        )
    )
    assert found == Xmp(
        Metadata(
            taken_local=datetime.fromisoformat("2022-01-10T15:15:44.310"),
            taken_utc=datetime(2022, 1, 10, 19, 15, 33, tzinfo=UTC),
            utc_offset=-240,
            camera_make="Canon",
            camera_model="EOS R",
            camera_serial="77",
            lens_model="RF 50mm",
            lat=39.115,
            lng=-108.401,
            altitude=1484,
            title="Harbour",
            description="Ships & gulls",
            keywords=("sea", "ship", "Rome", "Places", "Italy", "Places/Italy/Rome"),
            artist="Ann, Bob",
            copyright="CC BY",
            license="https://creativecommons.org/licenses/by/4.0/",
            rating=4,
            document_id="original",
            burst_id="b-7",
            instance_id="xmp.iid:1",
            original_name="DSC1.ARW",
        ),
        "equirectangular",
    )


def test_the_default_language_wins_wherever_it_stands():
    items = '<rdf:li xml:lang="de">Hafen</rdf:li><rdf:li xml:lang="x-default">Harbour</rdf:li>'
    assert metadata_of(f"<dc:title><rdf:Alt>{items}</rdf:Alt></dc:title>").title == "Harbour"


def test_ratings_go_from_rejected_to_five_and_the_orientation_is_one_of_eight():
    for written, stars in (("-1", -1), ("0", 0), ("5", 5), ("3.0", 3), ("99", 0), ("nan", 0)):
        assert metadata_of(attributes=f'xmp:Rating="{written}"').rating == stars, written
    for written, orientation in (("6", 6), (" 8 ", 8), ("0", 0), ("9", 0), ("six", 0)):
        assert read_xmp(xmp(attributes=f'tiff:Orientation="{written}"')).orientation == orientation, written


def test_impossible_coordinates_are_no_place():
    for coordinate in ("91,0,0N", "nan", "39,6.9E", "1e400", "39,99N", "", "-91", "0,0N"):
        attributes = f'exif:GPSLatitude="{coordinate}" exif:GPSLongitude="0,0E"'
        assert metadata_of(attributes=attributes).lat is None, coordinate


@pytest.mark.parametrize(
    ("lat", "lng", "place"),
    [
        (("37.7749", "N"), ("122.4194", "W"), (37.7749, -122.4194)),
        (("33,8700", "S"), ("151,2100", "E"), (-33.87, 151.21)),
        (("-33.87", "S"), ("-70.66", ""), (-33.87, -70.66)),
        (("33,52.2S", "N"), ("151,12.6E", "W"), (-33.87, 151.21)),
        (("37.7749", "W"), ("122.4194", "x"), (37.7749, 122.4194)),
    ],
)
def test_the_hemisphere_may_be_a_property_of_its_own(lat, lng, place):
    written = zip(("GPSLatitude", "GPSLatitudeRef", "GPSLongitude", "GPSLongitudeRef"), (*lat, *lng), strict=True)
    metadata = metadata_of("".join(f"<exif:{name}>{value}</exif:{name}>" for name, value in written))
    assert (metadata.lat, metadata.lng) == place


def test_the_exposure_is_read_where_only_xmp_has_it():
    metadata = metadata_of(
        bag("exif:ISOSpeedRatings", "200", kind="Seq"),
        'exif:FNumber="28/10" exif:ExposureTime="10/1600" exif:FocalLength="50/1"',
    )
    assert (metadata.iso, metadata.f_number, metadata.exposure, metadata.focal_length) == (200, 2.8, "1/160", 50)
    assert metadata_of(attributes='exif:FocalLength="50" exif:FocalLengthIn35mmFilm="75"').focal_length == 75
    written = 'exif:FNumber="2.8" exif:ExposureTime="0.00625" exif:GPSAltitude="12.6" exif:GPSAltitudeRef="1"'
    metadata = metadata_of(attributes=written)
    assert (metadata.f_number, metadata.exposure, metadata.altitude) == (2.8, "1/160", -13)


def test_an_impossible_exposure_is_none():
    names = ("FNumber", "ExposureTime", "FocalLength", "ISOSpeedRatings")
    for written in ("", "0", "-1", "1/0", "x", "9" * 20, "999999999999"):
        metadata = metadata_of(attributes=" ".join(f'exif:{name}="{written}"' for name in names))
        assert (metadata.iso, metadata.f_number, metadata.exposure, metadata.focal_length) == (0, 0.0, "", 0), written


def test_a_coordinate_may_have_any_number_of_decimals():
    written = f'exif:GPSLatitude="39,6.{"9" * 20}N" exif:GPSLongitude="10.{"5" * 25}"'
    metadata = metadata_of(attributes=written)
    assert (metadata.lat, metadata.lng) == (39.116667, 10.555556)


def test_dates_may_be_partial():
    for written, moment, parts in (
        ("1954", "1954-01-01", 1),
        ("2020-01", "2020-01-01", 2),
        ("2020-01-31", "2020-01-31", 3),
    ):
        metadata = metadata_of(attributes=f'photoshop:DateCreated="{written}"')
        assert (metadata.taken_local, metadata.date_parts) == (datetime.fromisoformat(moment), parts)


def test_bytes_after_a_packet_are_ignored_and_a_truncated_packet_is_empty():
    for rest in (b"</rdf:RDF></x:xmpmeta>", b"\0" * 40 + b"<x", "Möwe".encode("latin-1"), b"<a/><b"):
        assert read_xmp(xmp(attributes='xmp:Rating="3"') + rest).metadata.rating == 3, rest
    assert read_xmp(xmp(attributes='xmp:Rating="3"')[:-40]) == Xmp()


def test_the_last_change_is_not_when_the_picture_was_taken():
    metadata = metadata_of(attributes='xmp:ModifyDate="2020-01-31T10:11:12+02:00"')
    assert (metadata.taken_local, metadata.modified_local) == (None, datetime.fromisoformat("2020-01-31T10:11:12"))
    assert (metadata.utc_offset, metadata.modified_offset) == (None, 120)


def test_faces_of_the_working_group_are_boxes_from_the_top_left():
    area = 'stArea:x="0.50000000000000000001" stArea:y="0.4" stArea:w="0.2000000000000000111" stArea:h="3.0e-1"'
    area = f'<mwg-rs:Area {area} stArea:unit="normalized"/>'
    for kind, face, name in (
        ("Bag", f"><rdf:Description mwg-rs:Name='Ann' mwg-rs:Type='Face'>{area}</rdf:Description>", "Ann"),
        ("Seq", f" rdf:parseType='Resource'>{area}<mwg-rs:Type>Face</mwg-rs:Type>", ""),
    ):
        metadata = metadata_of(
            f"<mwg-rs:Regions rdf:parseType='Resource'><mwg-rs:RegionList><rdf:{kind}><rdf:li{face}</rdf:li>"
            f"</rdf:{kind}></mwg-rs:RegionList></mwg-rs:Regions>"
        )
        assert metadata.regions == (Region(name, "face", 0.4, 0.25, 0.2, 0.3),), kind


def test_microsoft_people_are_read_clipped_and_nonsense_left_out():
    def person(name: str, rectangle: str) -> str:
        return f"<rdf:li><rdf:Description MPReg:PersonDisplayName='{name}' MPReg:Rectangle='{rectangle}'/></rdf:li>"

    people = person("Bob", "0.9, 0.1, 0.2, 0.2") + person("Nan", "nan,0,1,1") + person("Out", "2, 2, 1, 1")
    metadata = metadata_of(
        f"<MP:RegionInfo><rdf:Description><MPRI:Regions><rdf:Bag>{people}</rdf:Bag></MPRI:Regions></rdf:Description>"
        "</MP:RegionInfo>"
    )
    assert metadata.regions == (Region("Bob", "face", 0.9, 0.1, 0.1, 0.2),)


def test_regions_turn_with_the_picture_and_four_quarter_turns_are_none():
    region = Region("Ann", "face", 0.1, 0.2, 0.3, 0.1)
    assert upright(region, 1) == region
    assert upright(region, 3) == Region("Ann", "face", 0.6, 0.7, 0.3, 0.1)
    assert upright(region, 6) == Region("Ann", "face", 0.7, 0.1, 0.1, 0.3)
    assert upright(upright(region, 6), 8) == region
    assert upright(upright(upright(upright(region, 6), 6), 6), 6) == region


def test_a_sidecar_in_utf16_with_a_byte_order_mark_is_read():
    content = xmp(attributes='xmp:Rating="3"').decode().encode("utf-16")
    assert read_xmp_sidecar(content).rating == 3


BILLION_LAUGHS = (
    b'<!DOCTYPE x [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    + b"]><x>&j;</x>"
)
CRS = 'xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/"'
OUTSIDE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'


def test_hostile_packets_are_empty():
    for name, packet in {
        "laughs": BILLION_LAUGHS,
        "outside": OUTSIDE,
        "deep": b"<a>" * 100_000,
        "many": b"<x>" + b"<y/>" * 100_000 + b"</x>",
        "strokes": xmp("<crs:a>" + "<b/>" * 100_000 + "</crs:a>", CRS),
        "nested": xmp("<crs:a>" + "<b>" * 100_000, CRS),
        "large": xmp(bag("dc:title", "x" * 17_000_000)),
        "long": xmp("", f'dc:title="{"x" * 3_000_000}" xmp:Rating="3"')[:-40],
        "encoding": b"<?xml version='1.0' encoding='no-such'?><x/>",
        "cut": b"<x",
        "empty": b"",
        "mark": b"\xff\xfe",
    }.items():
        assert read_xmp(packet) == Xmp(), name


def test_ten_thousands_of_strokes_and_ancestors_hide_no_rating_and_title():
    strokes = "".join(f"<rdf:li>d 0.{number:06} 0.5</rdf:li>" for number in range(60_000))
    masks = f"<crs:Masks><rdf:Seq><rdf:li><rdf:Description><crs:Dabs><rdf:Seq>{strokes}</rdf:Seq></crs:Dabs>"
    ancestors = "".join(f"<rdf:li>xmp.did:{number:032}</rdf:li>" for number in range(30_000))
    packet = xmp(
        f"{masks}</rdf:Description></rdf:li></rdf:Seq></crs:Masks>"
        f"<photoshop:DocumentAncestors><rdf:Bag>{ancestors}</rdf:Bag></photoshop:DocumentAncestors>"
        f"<other:History xmlns:other='urn:other'><rdf:Seq>{'<rdf:li/>' * 30_000}</rdf:Seq></other:History>"
        f"<crs:HasSettings>True</crs:HasSettings>{bag('dc:subject', 'lake')}",
        f'xmp:Rating="4" {CRS}',
    )
    assert len(packet) > 1 << 21
    metadata = read_xmp(packet).metadata
    assert (metadata.rating, metadata.keywords, metadata.edited) == (4, ("lake",), True)


def test_texts_of_editors_are_cleaned():
    assert metadata_of(bag("dc:title", "a&#10;b\u202e" + "c" * 500, kind="Alt")).title == "a b" + "c" * 197


@examples(150)
@given(st.text(max_size=60), st.binary(max_size=60))
def test_any_packet_gets_an_answer(text, noise):
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    for packet in (
        xmp(attributes=f'exif:GPSLatitude="{escaped}" xmp:Rating="{escaped}"').replace(b"\xef\xbf", b"")[:-1],
        noise,
    ):
        assert isinstance(read_xmp(packet), Xmp)


def test_labels_and_the_tags_of_digikam_are_read_and_tags_for_programs_are_not():
    metadata = metadata_of(
        bag("dc:subject", "lake", "darktable|changed")
        + bag("lr:hierarchicalSubject", "darktable|format|cr2", "Places|Italy|Rome")
        + '<digiKam:TagsList xmlns:digiKam="http://www.digikam.org/ns/1.0/"><rdf:Seq><rdf:li>People/Ada</rdf:li>'
        "<rdf:li>_Digikam_Internal_Tags_/Need Resolving</rdf:li></rdf:Seq></digiKam:TagsList>",
        'xmp:Label="Red" xmp:Rating="-1"',
    )
    words = ("lake", "Rome", "Ada", "Places", "Italy", "People", "Places/Italy/Rome", "People/Ada")
    assert (metadata.keywords, metadata.labels, metadata.rating) == (words, ("Red",), -1)


LIGHTROOM = 'xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/"'
DARKTABLE = 'xmlns:darktable="http://darktable.sf.net/"'


@pytest.mark.parametrize(
    ("attributes", "edited"),
    [
        ("", False),
        (f'{LIGHTROOM} crs:HasSettings="True"', True),
        (f'{LIGHTROOM} crs:HasSettings="False"', False),
        (f'{LIGHTROOM} crs:HasSettings="True" crs:AlreadyApplied="True"', False),
        (f'{DARKTABLE} darktable:history_end="3"', True),
        (f'{DARKTABLE} darktable:history_end="0"', False),
        (f'{DARKTABLE} darktable:history_end="3" darktable:history_current_hash="a"', True),
        (
            f'{DARKTABLE} darktable:history_end="3" darktable:history_current_hash="a" darktable:history_auto_hash="a"',
            False,
        ),
    ],
)
def test_adjustments_that_the_picture_does_not_show_are_noted(attributes, edited):
    assert metadata_of(attributes=attributes).edited is edited
