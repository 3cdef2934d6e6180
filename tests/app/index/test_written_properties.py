"""Each property that other programs write, in a sidecar and in the picture itself, and what the API shows of it."""

import json

import pytest

from tests.helpers.library import open_library, reasons
from tests.helpers.pictures import jpeg

NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "dc": "http://purl.org/dc/elements/1.1/",
        "xmp": "http://ns.adobe.com/xap/1.0/", "xmpRights": "http://ns.adobe.com/xap/1.0/rights/",
        "xmpDM": "http://ns.adobe.com/xmp/1.0/DynamicMedia/", "photoshop": "http://ns.adobe.com/photoshop/1.0/",
        "exif": "http://ns.adobe.com/exif/1.0/", "tiff": "http://ns.adobe.com/tiff/1.0/",
        "lr": "http://ns.adobe.com/lightroom/1.0/", "digiKam": "http://www.digikam.org/ns/1.0/",
        "darktable": "http://darktable.sf.net/", "acdsee": "http://ns.acdsee.com/iptc/1.0/",
        "fstop": "http://www.fstopapp.com/xmp/", "MicrosoftPhoto": "http://ns.microsoft.com/photo/1.0/",
        "MP": "http://ns.microsoft.com/photo/1.2/", "MPRI": "http://ns.microsoft.com/photo/1.2/t/RegionInfo#",
        "MPReg": "http://ns.microsoft.com/photo/1.2/t/Region#",
        "mwg-rs": "http://www.metadataworkinggroup.com/schemas/regions/",
        "stArea": "http://ns.adobe.com/xmp/sType/Area#",
        "Iptc4xmpCore": "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/",
        "Iptc4xmpExt": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
        "bare": "http://ns.microsoft.com/photo/1.0",
    }.items()
)  # fmt: skip


def packet(written):
    """A packet of these properties: attributes, or elements from the first `<` on."""
    attributes, bracket, elements = written.partition("<")
    text = f"<rdf:RDF {NAMESPACES}><rdf:Description {attributes}>{bracket}{elements}</rdf:Description></rdf:RDF>"
    return f'<x:xmpmeta xmlns:x="adobe:ns:meta/">{text}</x:xmpmeta>'.encode()


def listed(name, *values, kind="Bag"):
    return f"<{name}><rdf:{kind}>{''.join(f'<rdf:li>{value}</rdf:li>' for value in values)}</rdf:{kind}></{name}>"


def structure(name, **values):
    return f"<{name} rdf:parseType='Resource'>{fields(**values)}</{name}>"


def fields(**values):
    return "".join(f"<{name.replace('__', ':')}>{value}</{name.replace('__', ':')}>" for name, value in values.items())


def region(name, kind, area='stArea:x="0.5" stArea:y="0.4" stArea:w="0.2" stArea:h="0.4" stArea:unit="normalized"'):
    return (
        f"<rdf:li><rdf:Description mwg-rs:Name='{name}' mwg-rs:Type='{kind}'><mwg-rs:Area {area}/></rdf:Description>"
        "</rdf:li>"
    )


def regions(*items):
    listing = f"<mwg-rs:RegionList><rdf:Bag>{''.join(items)}</rdf:Bag></mwg-rs:RegionList>"
    return f"<mwg-rs:Regions rdf:parseType='Resource'>{listing}</mwg-rs:Regions>"


def microsoft(*people):
    items = "".join(
        f"<rdf:li rdf:parseType='Resource'><MPReg:PersonDisplayName>{name}</MPReg:PersonDisplayName>{rest}</rdf:li>"
        for name, rest in people
    )
    listing = f"<MPRI:Regions><rdf:Bag>{items}</rdf:Bag></MPRI:Regions>"
    return f"<MP:RegionInfo rdf:parseType='Resource'>{listing}</MP:RegionInfo>"


def image_region(boundary, *, name="", people=(), kind=""):
    named = listed("Iptc4xmpExt:Name", name, kind="Alt") if name else ""
    shown = listed("Iptc4xmpExt:PersonInImage", *people) if people else ""
    identifier = listed("xmp:Identifier", f"http://cv.iptc.org/newscodes/imageregiontype/{kind}")
    content = f"<Iptc4xmpExt:rCtype><rdf:Bag><rdf:li rdf:parseType='Resource'>{identifier}</rdf:li></rdf:Bag>"
    content = f"{content}</Iptc4xmpExt:rCtype>" if kind else ""
    edge = structure("Iptc4xmpExt:RegionBoundary", **{f"Iptc4xmpExt__{key}": value for key, value in boundary.items()})
    item = f"<rdf:li rdf:parseType='Resource'>{edge}{named}{shown}{content}</rdf:li>"
    return f"<Iptc4xmpExt:ImageRegion><rdf:Bag>{item}</rdf:Bag></Iptc4xmpExt:ImageRegion>"


def vertices(*points):
    items = (fields(Iptc4xmpExt__rbX=x, Iptc4xmpExt__rbY=y) for x, y in points)
    listing = "".join(f"<rdf:li rdf:parseType='Resource'>{item}</rdf:li>" for item in items)
    return f"<rdf:Seq>{listing}</rdf:Seq>"


def place(name, **values):
    item = fields(**{f"Iptc4xmpExt__{key}": value for key, value in values.items()})
    return (
        f"<Iptc4xmpExt:{name}><rdf:Bag><rdf:li rdf:parseType='Resource'>{item}</rdf:li></rdf:Bag></Iptc4xmpExt:{name}>"
    )


def whole(*names):
    return [(name, "", 0, 0, 1, 1) for name in names]


RECTANGLE = {"rbShape": "rectangle", "rbUnit": "relative", "rbX": 0.4, "rbY": 0.2, "rbW": 0.2, "rbH": 0.4}
PIXELS = {"rbShape": "rectangle", "rbUnit": "pixel", "rbX": 40, "rbY": 10, "rbW": 20, "rbH": 20}
FACE = [("Ada", "face", 0.4, 0.2, 0.2, 0.4)]
BERN = {"PlaceSrc": "estimate", "PlaceCity": "Bern", "PlaceState": "Bern", "Country": "ch", "CellID": "zz", "Lat": 0.0}
IN_ROME = 'exif:GPSLatitude="41,53.5N" exif:GPSLongitude="12,30.6E"'
ROME = ["Italy", "lake", "Places", "Places/Italy/Rome", "Rome"]
FLAT = listed("dc:subject", "lake", "Rome")
NOTHING = {
    "Description": "", "Keywords": [], "People": [], "License": "", "Notes": "", "Subject": "", "Rating": 0,
    "Favorite": False, "PlaceSrc": "", "PlaceCity": "Unknown", "Country": "zz",
}  # fmt: skip
#: What is written -> what is shown, besides `NOTHING`.
CASES = {
    # people
    "people": (listed("Iptc4xmpExt:PersonInImage", "Ada", "Bob", "ada"), {"People": whole("Ada", "Bob")}),
    "person with an area": (
        listed("Iptc4xmpExt:PersonInImage", "Ada", "Bob") + regions(region("Ada", "Face")),
        {"People": FACE + whole("Bob")},
    ),
    "details of a person": (
        "<Iptc4xmpExt:PersonInImageWDetails><rdf:Bag><rdf:li rdf:parseType='Resource'>"
        + listed("Iptc4xmpExt:PersonName", "Ada", kind="Alt")
        + "</rdf:li></rdf:Bag></Iptc4xmpExt:PersonInImageWDetails>",
        {"People": whole("Ada")},
    ),
    "Microsoft's person without a rectangle": (microsoft(("Ada", "")), {"People": whole("Ada")}),
    "one person by two standards": (
        microsoft(("Ada", "<MPReg:Rectangle>0.4, 0.2, 0.4, 0.2</MPReg:Rectangle>")) + regions(region("Ada", "Face")),
        {"People": FACE},
    ),
    "region without an area": (regions(region("Ada", "Face", "")), {"People": whole("Ada")}),
    "region in a circle": (
        regions(region("Ada", "Face", 'stArea:x="0.5" stArea:y="0.5" stArea:d="0.2"')),
        {"People": [("Ada", "face", 0.4, 0.4, 0.2, 0.2)]},
    ),
    "region of a pet": (regions(region("Rex", "Pet"), region("Ada", "Face")), {"People": FACE, "Keywords": ["Rex"]}),
    "region of a barcode": (
        regions(region("978-3", "BarCode")), {"People": [("", "", 0.4, 0.2, 0.2, 0.4)]},
    ),
    "region of no numbers": (
        regions(region("Ada", "Face", 'stArea:x="NaN" stArea:y="inf" stArea:w="1e999" stArea:h="-0.2"')), {},
    ),
    "a wrong area and a right one": (
        regions(region("Ada", "Face", 'stArea:x="NaN" stArea:y="0" stArea:w="1" stArea:h="1"'))
        + microsoft(("Ada", "<MPReg:Rectangle>0.4, 0.2, 0.2, 0.4</MPReg:Rectangle>")),
        {"People": FACE},
    ),
    "image region with a person": (image_region(RECTANGLE, name="Left", people=["Ada"]), {"People": FACE}),
    "image region of a human": (image_region(RECTANGLE, name="Ada", kind="human"), {"People": FACE}),
    "image region without a type": (image_region(RECTANGLE, name="Ada"), {"People": FACE}),
    "image region of an animal": (image_region(RECTANGLE, name="Rex", kind="animal"), {"Keywords": ["Rex"]}),
    "image region for cropping": (image_region(RECTANGLE), {}),
    "image region in a circle": (
        image_region({"rbShape": "circle", "rbUnit": "relative", "rbX": 0.5, "rbY": 0.5, "rbRx": 0.1}, name="Ada"),
        {"People": [("Ada", "face", 0.4, 0.4, 0.2, 0.2)]},
    ),
    "image region in a polygon": (
        image_region(
            {"rbShape": "polygon", "rbUnit": "relative", "rbVertices": vertices((0.5, 0.2), (0.6, 0.6), (0.4, 0.3))},
            name="Ada",
        ),
        {"People": FACE},
    ),
    "image region in pixels": (
        'tiff:ImageWidth="100" tiff:ImageLength="50"' + image_region(PIXELS, name="Ada"), {"People": FACE},
    ),
    "image region in pixels of an unknown size": (
        image_region(PIXELS, name="Ada"), {"People": [("Ada", "", 0, 0, 1, 1)]},
    ),
    "image region of no numbers": (image_region({**RECTANGLE, "rbX": "nan"}, name="Ada"), {}),
    # texts
    "terms of use": (listed("xmpRights:UsageTerms", "CC BY 4.0", kind="Alt"), {"License": "CC BY 4.0"}),
    "terms and their address": (
        'xmpRights:WebStatement="https://example.org"' + listed("xmpRights:UsageTerms", "CC BY 4.0", kind="Alt"),
        {"License": "CC BY 4.0"},
    ),
    "notes of ACDSee": ('acdsee:notes="Ask Bob"', {"Notes": "Ask Bob"}),
    "description of TIFF": (listed("tiff:ImageDescription", "At the lake", kind="Alt"), {"Description": "At the lake"}),
    "two descriptions": (
        'tiff:ImageDescription="Copy"' + listed("dc:description", "At the lake", kind="Alt"),
        {"Description": "At the lake"},
    ),
    "name of a camera as description": ('tiff:ImageDescription="OLYMPUS DIGITAL CAMERA"', {}),
    # flags, stars and colours
    "favorite": ('fstop:favorite="1"', {"Favorite": True}),
    "no favorite": ('fstop:favorite="0"', {}),
    "stars of Microsoft": ('MicrosoftPhoto:Rating="75"', {"Rating": 4}),
    "stars of Microsoft by another name": ('bare:Rating="99"', {"Rating": 5}),
    "one star of Microsoft": ("<MicrosoftPhoto:Rating>1</MicrosoftPhoto:Rating>", {"Rating": 1}),
    "two kinds of stars": ('MicrosoftPhoto:Rating="75" xmp:Rating="2"', {"Rating": 2}),
    "stars of ACDSee": ('acdsee:rating="3"', {"Rating": 3}),
    "rejected in digiKam": ('digiKam:PickLabel="1" xmp:Rating="3"', {"Rating": -1}),
    "picked in digiKam": ('digiKam:PickLabel="3" xmp:Rating="3"', {"Rating": 3, "Keywords": ["Picked"]}),
    "pending in digiKam": ('digiKam:PickLabel="2"', {}),
    "rejected in Lightroom": ('xmpDM:pick="-1"', {"Rating": -1}),
    "picked in Lightroom": ('xmpDM:pick="1" xmpDM:good="True"', {"Keywords": ["Picked"]}),
    "good for Lightroom": ('xmpDM:good="False"', {"Rating": -1}),
    "colours of darktable": (
        listed("darktable:colorlabels", "0", "4", "9", kind="Seq"), {"Keywords": ["Purple", "Red"]},
    ),
    "colour of digiKam": ('digiKam:ColorLabel="2"', {"Keywords": ["Orange"]}),
    "colour twice": ('digiKam:ColorLabel="1" xmp:Label="Red"', {"Keywords": ["Red"]}),
    "no colour": ('digiKam:ColorLabel="0" photoshop:LabelColor="none"', {}),
    # keywords
    "own tags of darktable": (
        listed("dc:subject", "lake", "darktable", "format", "cr2", "exported")
        + listed("lr:hierarchicalSubject", "lake", "darktable|format|cr2", "darktable|exported"),
        {"Keywords": ["lake"]},
    ),
    "hierarchy with bars": (FLAT + listed("lr:hierarchicalSubject", "Places|Italy|Rome", "lake"), {"Keywords": ROME}),
    "hierarchy with slashes": (FLAT + listed("digiKam:TagsList", "Places/Italy/Rome", kind="Seq"), {"Keywords": ROME}),
    "the same hierarchy twice": (
        FLAT
        + listed("digiKam:TagsList", "Places/Italy/Rome", "lake", kind="Seq")
        + listed("lr:hierarchicalSubject", "Places|Italy|Rome", "lake"),
        {"Keywords": ROME},
    ),
    "keyword with a slash": (
        listed("dc:subject", "AC/DC", "lake") + listed("digiKam:TagsList", "AC/DC", "lake", kind="Seq"),
        {"Keywords": ["AC/DC", "lake"]},
    ),
    "another Rome": (
        listed("lr:hierarchicalSubject", "Cats|Rome"), {"Keywords": ["Cats", "Cats/Rome", "Rome"]},
    ),
    "hierarchy without words": (listed("lr:hierarchicalSubject", "|| |", "|a||b|"), {"Keywords": ["a", "a/b", "b"]}),
    # places
    "city and country": ('photoshop:City="Bern" photoshop:State="Bern" photoshop:Country="Switzerland"', BERN),
    "city and country in another language": ('photoshop:City="Berne" photoshop:Country="Suisse"', BERN),
    "city and code": ('photoshop:City="Bern" Iptc4xmpCore:CountryCode="CH"', BERN),
    "place of the picture": (place("LocationCreated", City="Bern", CountryName="Schweiz", CountryCode="CHE"), BERN),
    "place shown": (place("LocationShown", City="Bern", CountryCode="CH"), BERN),
    "city of two states": (
        'photoshop:City="Springfield" photoshop:State="Illinois" photoshop:Country="USA"',
        {"PlaceSrc": "estimate", "PlaceCity": "Springfield", "PlaceState": "Illinois", "Country": "us"},
    ),
    "unknown village": (
        'photoshop:City="Kleinbach" photoshop:Country="Austria"',
        {"PlaceSrc": "estimate", "PlaceCity": "Kleinbach", "Country": "at"},
    ),
    "country alone": ('photoshop:Country="Italia"', {"PlaceSrc": "estimate", "PlaceCity": "", "Country": "it"}),
    "unknown country": ('photoshop:City="Bern" photoshop:Country="Narnia"', {}),
    "position and city": (
        f'{IN_ROME} photoshop:City="Bern" photoshop:Country="Switzerland"',
        {"PlaceCity": "Rome", "Country": "it", "PlaceSrc": None},
    ),
}  # fmt: skip
SOURCES = {"sidecar": "xmp", "embedded": "meta"}


def shown(library, name):
    """The values of a photo by the search and by its own address."""
    (record,) = library.find(q=f'filename:"{name}"', merged="true")
    photo = library.call("GET", f"/photos/{record['UID']}")
    details, file = photo["Details"], record["Files"][0]
    people = [tuple(marker[field] for field in ("Name", "Type", "X", "Y", "W", "H")) for marker in file["Markers"]]
    words = sorted(filter(None, details["Keywords"].split(", ")), key=str.casefold)
    texts = {field: details[field] for field in ("License", "Notes", "Subject")}
    return {"Rating": 0, **record, **texts, "Keywords": words, "People": people}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A library with the properties of each case in a sidecar, and in a picture."""
    library = open_library(tmp_path_factory.mktemp("written"))
    for number, (properties, _) in enumerate(CASES.values()):
        library.put(f"sidecar/{number}.jpg", jpeg(61 + number))
        library.put(f"sidecar/{number}.jpg.xmp", packet(properties))
        library.put(f"embedded/{number}.jpg", jpeg(61 + number, xmp=packet(properties)))
    assert library.index().indexed == 3 * len(CASES)
    yield library
    library.close()


@pytest.mark.parametrize("way", SOURCES)
@pytest.mark.parametrize("case", CASES)
def test_what_a_program_writes_is_shown(written, case, way):
    expected = {**NOTHING, **CASES[case][1]}
    if expected["PlaceSrc"] is None:
        expected["PlaceSrc"] = SOURCES[way]
    found = shown(written, f"{way}/{[*CASES].index(case)}.jpg")
    assert {name: found[name] for name in expected} == expected
    if expected["People"]:
        assert {marker["Src"] for marker in found["Files"][0]["Markers"]} == {SOURCES[way]}


def test_every_level_of_a_hierarchy_is_found_and_its_path_too(written):
    def having(word):
        cases = {case for case in CASES if word in CASES[case][1].get("Keywords", ())}
        return {f"{way}/{[*CASES].index(case)}.jpg" for way in SOURCES for case in cases}

    for query, word in (("label:italy", "Italy"), ("keywords:places", "Places"), ("label:rome", "Rome")):
        assert set(written.names(q=query)) == having(word), query
    for path in ("Places/Italy/Rome", "Cats/Rome"):
        assert set(written.names(q=f"label:{path}")) == having(path), path
    assert having("Places/Italy/Rome") & having("Cats/Rome") == set()


def test_a_person_counts_before_a_sidecar_and_a_sidecar_before_the_picture(library):
    inside = packet(f'acdsee:notes="Inside" fstop:favorite="1" xmp:Rating="2"{regions(region("Ada", "Face"))}')
    library.put("a.jpg", jpeg(61, xmp=inside))
    library.index()
    (record,) = library.find()
    library.call("PUT", f"/photos/{record['UID']}", json={"Favorite": False, "Details": {"License": "Mine"}})
    beside = listed("Iptc4xmpExt:PersonInImage", "Bob") + listed("xmpRights:UsageTerms", "Theirs", kind="Alt")
    library.put("a.jpg.xmp", packet(f'acdsee:notes="Beside"{beside}'))
    library.index()
    found = shown(library, "a.jpg")
    assert {name: found[name] for name in ("Notes", "License", "Favorite", "Rating", "People")} == {
        "Notes": "Beside", "License": "Mine", "Favorite": False, "Rating": 2, "People": FACE + whole("Bob"),
    }  # fmt: skip


def test_the_place_that_a_file_names_is_no_guess_from_other_photos(library):
    camera = 'tiff:Make="Canon" tiff:Model="EOS R"'
    for number, more in enumerate((IN_ROME, 'photoshop:City="Bern" photoshop:Country="Switzerland"', "")):
        taken = f'exif:DateTimeOriginal="2020-01-31T12:0{number}:00"'
        library.put(f"{number}.jpg", jpeg(61 + number, xmp=packet(f"{camera} {taken} {more}")))
    library.index()
    assert [record["PlaceCity"] for record in library.find(order="name")] == ["Rome", "Bern", "Rome"]
    library.put("3.jpg", jpeg(70, xmp=packet(f'{camera} exif:DateTimeOriginal="2020-01-31T12:05:00" {IN_ROME}')))
    library.index()
    assert [record["PlaceCity"] for record in library.find(order="name")] == ["Rome", "Bern", "Rome", "Rome"]
    library.put("1.jpg.xmp", packet(IN_ROME))
    library.index()
    assert [record["PlaceCity"] for record in library.find(order="name")] == ["Rome"] * 4


JULY, OF_2019, LOCAL = "2019-07-01T00:00:00Z", "2019-01-01T00:00:00Z", "2019-07-02T10:30:00Z"
PHOTOPRISM = """\
UID: psabc12000000001
TakenAt: 2019-07-02T08:30:00Z
TakenAtLocal: 2019-07-02T10:30:00Z
TakenSrc: manual
Type: image
Title: "Am See: früh"
TitleSrc: manual
Caption: |-
  First line
  second line
CaptionSrc: manual
OriginalName: DSC_0001
Favorite: true
TimeZone: Europe/Zurich
Lat: 46.9481
Lng: 7.4474
Altitude: 540
PlaceSrc: manual
Year: 2019
Month: 7
Day: 2
Quality: 7
Details:
  Keywords: berg, see
  KeywordsSrc: manual
  Notes: Ask Bob
  NotesSrc: manual
  Artist: Ada
  ArtistSrc: manual
  License: CC BY
"""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {}),
        ({"TitleSrc: manual": "TitleSrc: image"}, {"Title": "Bern / Switzerland / 2019"}),
        ({"TakenSrc: manual": "TakenSrc: name"}, {"TakenSrc": "", "Year": -1, "Title": "Am See: früh"}),
        ({"TakenSrc: manual": "TakenSrc: batch", "Day: 2": "Day: -1"}, {"Day": -1, "TakenAtLocal": JULY}),
        ({"Month: 7": "Month: -1", "Day: 2": "Day: -1"}, {"Month": -1, "Day": -1, "TakenAtLocal": OF_2019}),
        ({"TimeZone: Europe/Zurich": "TimeZone: Local", "PlaceSrc: manual": ""}, {"TimeZone": "", "TakenAt": LOCAL}),
        ({"TakenAt: 2019": "TakenAt: 1919", "PlaceSrc: manual": ""}, {"TimeZone": "", "TakenAt": LOCAL}),
        ({"PlaceSrc: manual": "PlaceSrc: estimate"}, {"PlaceSrc": "", "PlaceCity": "Unknown", "Lat": 0}),
        ({"KeywordsSrc: manual": "KeywordsSrc: ''"}, {"Keywords": []}),
        ({"Caption: |-": "Description: >-", "CaptionSrc: manual": ""}, {"Description": "First line second line"}),
        ({"Favorite: true": ""}, {"Favorite": False}),
        ({"UID: psabc": "UID: asabc"}, None),
        ({"UID: psabc12000000001\n": ""}, None),
    ],
)  # fmt: skip
def test_what_a_person_entered_in_photoprism_comes_from_its_yaml_beside_the_picture(library, changes, expected):
    content = PHOTOPRISM
    for old, new in changes.items():
        assert old in content
        content = content.replace(old, new)
    library.put("a.jpg", jpeg(61))
    library.put("a.jpg.yml" if changes else "a.yml", content.encode())
    run = library.index()
    if expected is None:
        assert reasons(run.skipped) == [("a.jpg.yml", "not a sidecar of a picture")]
        return
    everything = {
        "Title": "Am See: früh", "Description": "First line\nsecond line", "TakenAt": "2019-07-02T08:30:00Z",
        "TakenAtLocal": "2019-07-02T10:30:00Z", "TakenSrc": "meta", "TimeZone": "Europe/Zurich", "Favorite": True,
        "Lat": 46.9481, "Lng": 7.4474, "Altitude": 540, "PlaceSrc": "meta", "PlaceCity": "Bern",
        "Keywords": ["berg", "see"], "Notes": "Ask Bob", "License": "CC BY", "OriginalName": "DSC_0001",
    }  # fmt: skip
    found = shown(library, "a.jpg")
    wanted = everything | expected
    assert {name: found[name] for name in (expected or everything)} == {
        name: wanted[name] for name in (expected or everything)
    }


def test_a_photo_that_was_private_in_photoprism_is_private_until_a_person_shows_it(library):
    admin, private = library.token(role="admin"), PHOTOPRISM.replace("Favorite: true", "Private: true")
    library.put("together.yml", private.encode())
    library.put("together.jpg", jpeg(61))
    library.put("first.yml", private.encode())
    library.put("last.jpg", jpeg(63))
    library.put("copied.jpg", jpeg(64))
    library.index()
    assert library.names() == ["copied.jpg", "last.jpg"]
    library.put("first.jpg", jpeg(62))
    library.put("last.yml", private.encode())
    library.put("copy/copied.jpg", jpeg(64))
    library.put("copy/copied.yml", private.encode())
    library.index()
    assert library.names() == []
    found = library.find(token=admin, order="name")
    assert [record["FileName"] for record in found] == ["copied.jpg", "first.jpg", "last.jpg", "together.jpg"]
    for record in found:
        library.call("PUT", f"/photos/{record['UID']}", json={"Private": False}, token=admin)
    library.index(force=True)
    library.put("last.yml", private.replace("Ask Bob", "Ask Eve").encode(), age=1800)
    library.index()
    assert len(library.names()) == 4


def osxphotos(**values):
    return json.dumps([{"SourceFile": "IMG_1.HEIC", "ExifTool:ExifToolVersion": "12.00", **values}]).encode()


FACES = {"Name": ["Ada", "Rex"], "Type": ["Face", "Pet"], "AreaUnit": ["normalized"] * 2, "AreaX": [0.5, 0.5]}
FACES |= {"AreaY": [0.4, 0.4], "AreaW": [0.2, 0.2], "AreaH": [0.4, 0.4]}
AREA = {"X": 0.5, "Y": 0.4, "W": 0.2, "H": 0.4, "Unit": "normalized"}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"XMP:PersonInImage": ["Ada", "Bob"]}, {"People": whole("Ada", "Bob")}),
        ({f"XMP:Region{name}": value for name, value in FACES.items()}, {"People": FACE, "Keywords": ["Rex"]}),
        (
            {"PersonInImage": ["Ada"], "RegionInfo": {"RegionList": [{"Name": "Ada", "Type": "Face", "Area": AREA}]}},
            {"People": FACE},
        ),
        (
            {"RegionPersonDisplayName": ["Bob", "Ada"], "RegionRectangle": ["", "0.4, 0.2, 0.2, 0.4"]},
            {"People": FACE + whole("Bob")},
        ),
        ({"RegionName": ["", None, {}], "RegionAreaX": "x", "RegionInfo": {"RegionList": [7, {"Area": 7}]}}, {}),
        ({"XMP:TagsList": "Places/Italy/Rome", "XMP:Subject": ["lake", "Rome"]}, {"Keywords": ROME}),
        ({"XMP:UsageTerms": "CC BY", "RatingPercent": 75, "PickLabel": 3, "Notes": "Ask Bob"},
         {"License": "CC BY", "Rating": 4, "Keywords": ["Picked"], "Notes": "Ask Bob"}),
        ({"City": "Bern", "Country": "Switzerland"}, BERN),
        ({"PersonInImageName": "Ada", "LocationShownCity": "Bern", "LocationShownCountryName": "Suisse"},
         BERN | {"People": whole("Ada")}),
    ],
)  # fmt: skip
def test_what_osxphotos_and_exiftool_write_beside_a_picture_is_shown(library, values, expected):
    library.put("a.jpg", jpeg(61))
    library.put("a.jpg.json", osxphotos(**values))
    library.index()
    found = shown(library, "a.jpg")
    assert {name: found[name] for name in NOTHING} == {name: {**NOTHING, **expected}[name] for name in NOTHING}


def test_an_edited_picture_of_osxphotos_is_one_photo_with_its_original(library):
    library.put("IMG_2.JPEG", jpeg(61))
    library.put("IMG_2_edited.jpeg", jpeg(61, 50))
    library.put("IMG_2_edited.jpeg.xmp", packet('xmp:Rating="4"'))
    library.put("IMG_2.JPEG.json", osxphotos(**{"XMP:Title": "Lake"}))
    library.index()
    (record,) = library.find(merged="true")
    assert (len(record["Files"]), record["Title"], record["Rating"]) == (2, "Lake", 4)


BOMBS = {
    "entities.xmp": b'<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><a>&c;</a>',
    "long.xmp": packet(listed("dc:title", "x" * 17_000_000, kind="Alt")),
    "anchors.yml": b"UID: p1\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "long.yml": b"UID: p1\nTitle: " + b"x" * 100_000_000,
    "deep.yml": b"[" * 60_000,
    "tags.yml": b"!!python/object/apply:os.system [exit]\n",
    "bytes.yml": b"\xff\xfe\x00",
    "deep.json": b"[" * 100_000,
}


def test_bombs_are_refused_with_one_reason_and_hide_no_picture(library):
    for number, (name, content) in enumerate(BOMBS.items()):
        library.put(f"{number}/{name.partition('.')[0]}.jpg", jpeg(61 + number))
        library.put(f"{number}/{name}", content)
    run = library.index()
    failed = [f"{number}/{name}" for number, name in enumerate(BOMBS) if name != "tags.yml"]
    assert reasons(run.failed) == [(name, "the sidecar cannot be read") for name in failed]
    assert len(library.find()) == len(BOMBS)


def test_thousands_of_people_and_keywords_and_endless_names_are_bounded(library):
    names = [f"{number} " + "é" * 10_000 for number in range(1500)]
    many = listed("Iptc4xmpExt:PersonInImage", *(name[:40] for name in names)) + listed("dc:subject", *names[:300])
    deep = listed("lr:hierarchicalSubject", *("|".join(map(str, range(start, start + 3000))) for start in range(500)))
    library.put("a.jpg", jpeg(61))
    library.put("a.jpg.xmp", packet(many + deep))
    library.put("b.jpg", jpeg(62))
    library.put(
        "b.jpg.xmp", packet(regions(region("n" * 10_000, "Face")) + f"<photoshop:City>{'c' * 10_000}</photoshop:City>")
    )
    library.put("c.jpg", jpeg(63))
    library.put("c.jpg.xmp", packet(deep))
    library.index()
    found = shown(library, "a.jpg")
    assert (len(found["People"]), len(found["Keywords"]), max(map(len, found["Keywords"]))) == (256, 256, 255)
    assert shown(library, "b.jpg")["People"] == [("n" * 255, "face", 0.4, 0.2, 0.2, 0.4)]
    assert len(shown(library, "c.jpg")["Keywords"]) == 256
