"""A library with every kind of value that people enter."""

from contextlib import contextmanager
from datetime import date
from itertools import count

import pytest
from sqlalchemy import event, select

from photosvc.models import Subject
from photosvc.models.engine import UnitOfWork, begin_write
from tests.helpers.pictures import exif, jpeg, showing, titled

DARKTABLE = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:dt="http://darktable.sf.net/" dt:xmp_version="5"/></rdf:RDF></x:xmpmeta>'
)
#: File name -> what a person enters.
ENTERED = {
    "texts.jpg": {"Title": "Am See", "Description": "Zwei\nZeilen <&> \U0001f600", "Favorite": True},
    "times.jpg": {"TakenAtLocal": "2019-07-02T10:30:00Z", "TimeZone": "America/New_York"},
    "year.jpg": {"TakenAtLocal": "1954-01-01T00:00:00Z", "Month": -1, "Day": -1},
    "place.jpg": {"Lat": 46.9471, "Lng": 7.4442, "Altitude": 540},
    "country.jpg": {"Country": "is"},
    "camera.jpg": {"CameraMake": "Agfa", "CameraModel": "Box", "LensMake": "Agfa", "LensModel": "Apotar"},
    "exposure.jpg": {"Iso": 400, "FNumber": 5.6, "FocalLength": 85, "Exposure": "1/250"},
    "details/d.jpg": {
        "Details": {
            "Keywords": "lake, Berg", "Subject": "swans", "Artist": "Ann", "Copyright": "(c) Ann",
            "License": "CC BY", "Notes": "n\nm",
        },
        "Rating": 3,
    },
    "flags.jpg": {"Scan": True, "Panorama": True, "Private": True},
}  # fmt: skip
EDITS = ENTERED | {
    "line\nbreak\\new.jpg": {"Title": "odd"},
    "foreign.jpg": {"Title": "Baum"},
}


@contextmanager
def stopping_at(number):
    """Stop what runs in the block before the commit with this number, from 1, as a signal does."""
    numbers = count(1)

    def stop(_session):
        if next(numbers) == number:
            raise KeyboardInterrupt

    event.listen(UnitOfWork, "before_commit", stop)
    try:
        yield
    finally:
        event.remove(UnitOfWork, "before_commit", stop)


@pytest.fixture
def every_value(api):
    library, call = api.library, api.library.call
    for number, name in enumerate((*EDITS, "archived.jpg", "trashed.jpg", "turned.jpg", "plain.jpg")):
        maker = {0x010F: "Canon", 0x0110: "EOS R"} if name == "plain.jpg" else {}
        taken = exif(maker, {0x9003: f"2020:05:{number + 1:02} 07:08:09"})
        library.put(name, jpeg(64 + number, 48, exif=taken))
    faces = {"a/both.jpg": ("Ada", "Bob"), "a/one.jpg": ("Cleo",)}
    for number, (name, names) in enumerate(faces.items()):
        library.put(name, jpeg(90 + number, 48, exif=exif({}, {0x9003: "2021:01:02 03:04:05"}), xmp=showing(*names)))
    stacked = exif({0x010F: "Canon"}, {0x9003: "2022:01:02 03:04:05"})
    for name, width in (("s/lake.jpg", 100), ("s/lake-edited.jpg", 64), ("s/off.jpg", 102), ("s/off-edited.jpg", 65)):
        library.put(name, jpeg(width, 80, exif=stacked))
    library.put("foreign.jpg.xmp", DARKTABLE.encode())
    library.put("plain.xmp", titled("of a sidecar"))
    library.index()
    uids = {record["FileName"]: record["UID"] for record in library.find(count=100)}
    clean = {name: next(uid for stored, uid in uids.items() if stored.endswith(name[-7:])) for name in EDITS}
    for name, values in EDITS.items():
        call("PUT", f"/photos/{clean[name]}", json=values)
    call("PUT", f"/photos/{clean['texts.jpg']}", json={"Title": "Falsch"})
    (change, *_) = call("GET", f"/photos/{clean['texts.jpg']}/history")
    call("POST", f"/photos/{clean['texts.jpg']}/history/{change['ID']}/undo")
    call("POST", "/batch/photos/archive", json={"photos": [uids["archived.jpg"]]})
    photo = call("GET", f"/photos/{uids['turned.jpg']}")
    file = photo["Files"][0]["UID"]
    call("PUT", f"/photos/{photo['UID']}/files/{file}/orientation", json={"Orientation": 6})
    call("POST", "/markers", json={
        "FileUID": file, "Type": "face", "X": 0.1, "Y": 0.2, "W": 0.3, "H": 0.4, "Name": "Dora"
    })  # fmt: skip
    both = call("GET", f"/photos/{uids['a/both.jpg']}")["Files"][0]["Markers"]
    call("PUT", f"/markers/{both[1]['UID']}", json={"Name": "Robert"})
    people = {person["Name"]: person["UID"] for person in call("GET", "/subjects?count=10")}
    call("PUT", f"/subjects/{people['Ada']}", json={"Name": "Ada Lovelace", "Favorite": True})
    with library.session() as session:  # an import brings birth dates
        begin_write(session)
        session.scalars(select(Subject).where(Subject.name == "Ada Lovelace")).one().birth_date = date(1815, 12, 10)
    call("PUT", f"/subjects/{people['Cleo']}", json={"Hidden": True})
    label = next(one for one in call("GET", "/labels?count=10&all=true") if one["Name"].lower() == "berg")
    call("POST", f"/labels/{label['UID']}/like")
    for name in ("s/lake.jpg", "s/off.jpg"):
        record = next(one for one in library.find(count=100) if one["FileName"] in (name, f"{name[:-4]}-edited.jpg"))
        other = next(one for one in call("GET", f"/photos/{record['UID']}")["Files"] if not one["Primary"])
        action = "primary" if name == "s/lake.jpg" else "unstack"
        call("POST", f"/photos/{record['UID']}/files/{other['UID']}/{action}")
    call("POST", "/batch/photos/stack", json={"photos": [uids["exposure.jpg"], uids["camera.jpg"]]})
    album = call("POST", "/albums", json={
        "Title": "Trip", "Notes": "n", "Category": "Ferien", "Location": "Bern", "Description": "d", "Order": "manual",
        "Favorite": True,
    })["UID"]  # fmt: skip
    members = [uids["place.jpg"], uids["a/one.jpg"], uids["texts.jpg"]]
    call("POST", f"/albums/{album}/photos", json={"photos": members})
    call("PUT", f"/albums/{album}/photos", json={"photos": [members[2]], "before": members[0]})
    cover = next(record["Hash"] for record in library.find(count=100) if record["FileName"] == "place.jpg")
    call("PUT", f"/albums/{album}", json={"Thumb": cover, "ThumbSrc": "manual"})
    smart = call("POST", "/albums", json={"Title": "Klug", "Filter": "year:2020"})["UID"]
    call("DELETE", f"/albums/{smart}/photos", json={"photos": [uids["plain.jpg"]]})
    call("POST", "/batch/photos/delete", json={"photos": [uids["trashed.jpg"]]}, token=library.token(role="admin"))
    library.index()
    return api
