"""Sidecars over HTTP: what an owner sees of a folder of pictures with sidecars, in whatever order they come."""

import json
from itertools import permutations

import pytest

from photosvc.models import Album, AlbumPhoto, File, Photo, Sidecar, copy_sidecars
from tests.helpers.library import counts, reasons
from tests.helpers.pictures import iptc, jpeg, xmp

TAKEN = 1_580_472_000  # 2020-01-31T12:00:00Z


def takeout(title="a.jpg", **values):
    record = {
        "title": title,
        "description": "At the lake",
        "photoTakenTime": {"timestamp": str(TAKEN), "formatted": "Jan 31, 2020, 12:00:00 PM UTC"},
        "geoData": {"latitude": 48.8584, "longitude": 2.2945, "altitude": 30.0},
        "people": [{"name": "Ada"}, {"name": "Bob"}],
        **values,
    }
    return json.dumps(record).encode()


def rated(stars, attributes="", properties=""):
    return xmp(properties, f'xmp:Rating="{stars}" {attributes}')


def written(title="", words=(), stars=0):
    items = "".join(f"<rdf:li>{word}</rdf:li>" for word in words)
    subject = f"<dc:subject><rdf:Bag>{items}</rdf:Bag></dc:subject>" if words else ""
    name = f"<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>{title}</rdf:li></rdf:Alt></dc:title>" if title else ""
    return rated(stars, properties=name + subject) if stars else xmp(name + subject)


def album(title="Trip", **values):
    return json.dumps({"title": title, "description": "By train", "access": "protected", **values}).encode()


def put_all(library, files, folder=""):
    for name, content in files.items():
        library.put(f"{folder}{name}", content)


def photos(library, read):
    """Folder and name of each photo in the search -> what `read` says of it."""
    with library.session() as session:
        shown = session.query(Photo).filter(Photo.quality >= 0)
        return {f"{photo.path}/{photo.name}".strip("/"): read(photo) for photo in shown}


def ratings(library):
    return photos(library, lambda photo: photo.rating)


def title_words_and_rating(photo):
    return photo.title, sorted(keyword.word.casefold() for keyword in photo.keywords), photo.rating


def people_and_flags(photo):
    people = sorted(marker.name for marker in photo.files[0].markers)
    return people, photo.favorite, photo.archived_at is not None


def albums(library):
    """Title of each album -> the names of its photos."""
    with library.session() as session:
        found = {}
        for one in session.query(Album).order_by(Album.title):
            rows = session.query(AlbumPhoto).filter_by(album_id=one.id)
            found[one.title] = sorted(session.get(Photo, row.photo_id).name for row in rows)
        return found


def delete_albums(library, *titles):
    with library.session() as session:
        for one in session.query(Album).filter(Album.title.in_(titles)):
            session.query(AlbumPhoto).filter_by(album_id=one.id).delete()
            session.delete(one)


def test_a_takeout_gives_its_pictures_date_place_people_and_texts(library):
    library.put("a.jpg", jpeg(61))
    library.put("a.jpg.supplemental-metadata.json", takeout(favorited=True))
    assert counts(library.index()) == (2, 0, 0, 0, 0, 0)
    (record,) = library.find()
    assert {name: record[name] for name in ("TakenAt", "TakenSrc", "Description", "Favorite", "PlaceCity")} == {
        "TakenAt": "2020-01-31T12:00:00Z",
        "TakenSrc": "meta",
        "Description": "At the lake",
        "Favorite": True,
        "PlaceCity": "Paris",
    }
    assert (record["Lat"], record["Lng"], record["TimeZone"]) == (48.8584, 2.2945, "Europe/Paris")
    assert library.names(people="ada") == library.names(people="bob") == ["a.jpg"]
    assert library.names(people="eve") == []


def test_descriptions_keep_their_lines_on_every_way_and_titles_are_one_line(library):
    packet = xmp("<dc:description><rdf:Alt><rdf:li>First&#xD;&#xA;\n third</rdf:li></rdf:Alt></dc:description>")
    library.put("iptc.jpg", jpeg(61, iptc=iptc([(5, b"A\r\ntitle"), (120, b"First\r\r third")])))
    library.put("takeout.jpg", jpeg(62))
    library.put("takeout.jpg.json", takeout("takeout.jpg", description="First\r\n\r\n third"))
    library.put("xmp.jpg", jpeg(63))
    library.put("xmp.jpg.xmp", packet)
    library.index()
    found = library.find(order="name")
    assert [record["Description"] for record in found] == ["First\n\n third"] * 3
    assert found[0]["Title"] == "A title"
    path = f"/photos/{found[0]['UID']}"
    same = {"Title": found[0]["Title"], "Description": found[0]["Description"].replace("\n", "\r\n")}
    assert library.call("PUT", path, json=same)["EditedAt"] == "0001-01-01T00:00:00Z"
    edit = {"Title": "One\nline", "Description": "Two\u2028lines\x07", "Details": {"Notes": "a\rb", "Artist": "a\rb"}}
    library.call("PUT", path, json=edit)
    (record,) = library.find(q="name:iptc")
    details = library.call("GET", path)["Details"]
    assert (record["Title"], record["Description"]) == ("One line", "Two\nlines")
    assert (details["Notes"], details["Artist"]) == ("a\nb", "a b")


def put_in_every_order(library, files):
    """Let these files come in every order, each order in a folder of its own with a picture of its own."""
    orders = list(permutations(files))
    for step in range(len(files)):
        for number, order in enumerate(orders):
            name = order[step]
            library.put(f"{number}/{name}", files[name] or jpeg(61 + number))
        library.index()
    assert library.index().updated == 0
    return [f"{number}/" for number in range(len(orders))]


PICTURE = b""
COPIES = {
    "a/p.jpg": PICTURE,
    "a/p.jpg.xmp": written("", ["lake", "boat"], 3),
    "b/q.jpg": PICTURE,
    "b/q.jpg.xmp": written("Morning", ["Lake", "fog"], 5),
}


def put_copies(library, folder="", width=61):
    put_all(library, {name: content or jpeg(width) for name, content in COPIES.items()}, folder)


def test_a_picture_and_its_sidecars_may_come_in_any_order(library):
    folders = put_in_every_order(library, {"a.jpg": PICTURE, "a.xmp": rated(4), "a.jpg.json": takeout()})
    found = photos(library, lambda photo: (photo.rating, photo.description))
    assert found == {f"{folder}a": (4, "At the lake") for folder in folders}


def test_sidecars_of_pictures_with_equal_content_complete_each_other_in_any_order(library):
    folders = put_in_every_order(library, COPIES)
    found = photos(library, title_words_and_rating)
    assert {name.partition("/")[0] + "/": values for name, values in found.items()} == {
        folder: ("Morning", ["boat", "fog", "lake"], 3) for folder in folders
    }


def test_the_year_folder_and_the_album_of_takeout_are_one_photo_with_the_people_and_flags_of_both(library):
    def files(width, title):
        return [
            ("Photos from 2020/a.jpg", jpeg(width)),
            ("Photos from 2020/a.jpg.json", takeout(description="", people=[{"name": "Ada"}], archived=True)),
            ("Trip/a.jpg", jpeg(width)),
            ("Trip/a.jpg.json", takeout(people=[{"name": "Bob"}, {"name": "ada"}], favorited=True)),
            ("Trip/metadata.json", album(title)),
        ]

    for forth, back in zip(files(61, "Forth"), files(62, "Back")[::-1], strict=True):
        put_all(library, dict([forth]), "forth/")
        put_all(library, dict([back]), "back/")
        library.index()
    found = photos(library, lambda photo: (photo.description, *people_and_flags(photo)))
    assert list(found.values()) == [("At the lake", ["Ada", "Bob"], True, False)] * 2, found
    assert albums(library) == {"Back": ["a"], "Forth": ["a"]}


def test_sidecars_of_two_copies_and_of_an_edited_copy_with_a_cut_name_are_told_apart(library):
    cut = "n" * 43
    put_all(library, {
        "a.jpg": jpeg(61), "a.jpg.json": takeout(people=[{"name": "Ada"}]),
        "a(1).jpg": jpeg(61), "a.jpg(1).json": takeout(people=[{"name": "Bob"}]),
        f"{cut}-edi.jpg": jpeg(62), f"{cut}.su.json": takeout(cut, people=[{"name": "Eve"}]),
    })  # fmt: skip
    library.index()
    found = photos(library, lambda photo: people_and_flags(photo)[0])
    assert found == {"a(1)": ["Ada", "Bob"], f"{cut}-edi": ["Eve"]}


def test_a_changed_sidecar_reads_no_picture_again_and_moves_with_its_owner(library):
    picture, sidecar = library.put("a.jpg", jpeg(61)), library.put("a.jpg.xmp", rated(2))
    library.index()
    seen = picture.stat().st_atime_ns
    library.put("a.jpg.xmp", rated(5), age=1800)
    assert counts(library.index()) == (0, 1, 1, 0, 0, 0)
    assert (ratings(library), picture.stat().st_atime_ns) == ({"a": 5}, seen)
    (library.originals / "b").mkdir()
    picture.rename(library.originals / "b/c.jpg")
    library.index()
    assert ratings(library) == {"b/c": 0}
    sidecar.rename(library.originals / "b/c.jpg.xmp")
    library.index()
    assert ratings(library) == {"b/c": 5}


def test_a_subfolder_without_its_sidecar_finds_the_one_that_came_before(library):
    library.put("x/a.jpg.xmp", rated(4))
    library.put("x/b.jpg", jpeg(62))
    library.index(subfolder="x")
    library.put("x/a.jpg", jpeg(61))
    library.index(subfolder="x")
    assert ratings(library) == {"x/a": 4, "x/b": 0}


def test_a_sidecar_that_is_gone_takes_its_values_and_rows_with_it(library):
    library.put("a.jpg", jpeg(61))
    library.index()
    plain = library.stored()
    face = (
        '<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li rdf:parseType="Resource">'
        "<mwg-rs:Name>Ada</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type><mwg-rs:Area stArea:x='0.5' stArea:y='0.5' "
        "stArea:w='0.2' stArea:h='0.2' stArea:unit='normalized'/></rdf:li></rdf:Bag></mwg-rs:RegionList>"
        "</mwg-rs:Regions>"
    )
    sidecars = [
        library.put("a.xmp", rated(3, 'xmp:Label="Red" photoshop:DateCreated="2021-05-06T07:08:09"', face)),
        library.put("a.jpg.json", takeout(favorited=True, archived=True)),
    ]
    library.index()
    with library.session() as session:
        photo = session.query(Photo).one()
        assert (photo.rating, photo.favorite, photo.archived_at, photo.taken_src) == (3, True, library.clock(), "xmp")
        assert [word.word for word in photo.keywords] == ["Red"]
        markers = [(marker.name, marker.type, marker.src, marker.x, marker.w) for marker in photo.files[0].markers]
        assert markers == [("Ada", "face", "xmp", 0.4, 0.2), ("Bob", "", "meta", 0.0, 1.0)]
    for sidecar in sidecars:
        sidecar.unlink()
    assert counts(library.index()) == (0, 0, 1, 2, 0, 0)
    assert library.stored() == plain
    with library.session() as session:
        assert (session.query(Sidecar).count(), session.query(File).count()) == (0, 1)


def test_what_people_set_stays_when_a_sidecar_of_the_picture_or_of_its_copy_comes(library):
    put_all(library, {"a.jpg": jpeg(61), "copy/a.jpg": jpeg(61)})
    library.index()
    with library.session() as session:
        photo = session.query(Photo).one()
        uid, photo.private = photo.uid, True
        for name, value in {"title": "Mine", "description": "by hand", "favorite": False}.items():
            setattr(photo, name, value)
            setattr(photo, f"{name}_src", "manual")
    put_all(library, {"a.jpg.json": takeout(favorited=True), "copy/a.jpg.xmp": written("Morning", stars=5)})
    library.index()
    (record,) = library.find(token=library.token(role="admin"))
    assert (record["Title"], record["Description"], record["Favorite"]) == ("Mine", "by hand", False)
    assert (record["UID"], record["Private"], record["Rating"], record["PlaceCity"]) == (uid, True, 5, "Paris")


def test_a_broken_sidecar_is_named_and_other_json_files_are_skipped_without_a_failure(library):
    put_all(library, {"a.jpg": jpeg(61), "a.xmp": b"<x:xmpmeta", "b.jpg": jpeg(62), "b.jpg.json": b'{"title": '})
    put_all(library, {
        "package.json": b'{"name": "x", "title": "y"}', "cut.json": b'{"name": ', "list.json": b"[1, 2]",
        "a.json": b"7",
    })  # fmt: skip
    run = library.index()
    assert counts(run) == (2, 0, 0, 0, 4, 2)
    assert reasons(run.failed) == [(name, "the sidecar cannot be read") for name in ("a.xmp", "b.jpg.json")]
    assert library.names() == ["a.jpg", "b.jpg"]
    assert counts(library.index()) == (0, 0, 2, 0, 6, 0)


def test_a_folder_of_takeout_becomes_an_album_of_its_photos_and_of_copies(library):
    put_all(library, {
        "Photos from 2020/a.jpg": jpeg(61), "Photos from 2020/metadata.json": album("Photos from 2020"),
        "Trip/a.jpg": jpeg(61), "Trip/b.jpg": jpeg(62), "Holidays 2014/e.jpg": jpeg(64),
    })  # fmt: skip
    library.index()
    library.put("Trip/Metadaten.json", album())
    library.put("Holidays 2014/metadata.json", album("Holidays 2014"))
    library.index()
    assert albums(library) == {"Holidays 2014": ["e"], "Trip": ["a", "b"]}
    assert library.names(album="Trip") == ["Photos from 2020/a.jpg", "Trip/b.jpg"]
    library.put("Trip/c.jpg", jpeg(63))
    library.put("Trip/metadata.json", album("A second album of the folder"))
    library.index()
    assert albums(library) == {"Holidays 2014": ["e"], "Trip": ["a", "b", "c"]}


def test_an_album_belongs_to_its_owner(library):
    put_all(library, {"Trip/a.jpg": jpeg(61), "Trip/b.jpg": jpeg(62), "Trip/metadata.json": album()})
    library.index()
    with library.session() as session:
        session.query(Album).one().title = "Our trip"
        session.query(AlbumPhoto).filter_by(photo_id=1).delete()
    library.put("Trip/metadata.json", album("Journey", description="By ship"), age=1800)
    library.index(force=True)
    with library.session() as session:
        found = session.query(Album).one()
        assert (found.title, found.description) == ("Our trip", "By ship")
    delete_albums(library, "Our trip")
    library.put("Trip/metadata.json", album("Again"), age=900)
    library.index()
    assert albums(library) == {}


def test_an_album_stays_the_same_or_deleted_when_its_folder_moves_and_a_copy_of_the_folder_is_another_one(library):
    for width, title in enumerate(("Trip", "Gone"), 61):
        put_all(library, {"a.jpg": jpeg(width), "metadata.json": album(title)}, f"{title}/")
    library.index()
    delete_albums(library, "Gone")
    with library.session() as session:
        uid = session.query(Album).one().uid
    folders = {title: library.originals / title for title in ("Trip", "Gone")}
    (library.originals / "Summer").mkdir()
    for place in ("moved {}", "Summer/moved {}"):
        for title, folder in folders.items():
            folders[title] = folder.rename(library.originals / place.format(title))
        library.index()
    library.index(force=True)
    assert albums(library) == {"Trip": ["a"]}
    library.put("Summer/moved Trip/b.jpg", jpeg(63))
    put_all(library, {"b.jpg": jpeg(64), "metadata.json": album("Another trip")}, "Gone/")
    put_all(library, {"c.jpg": jpeg(65), "metadata.json": album()}, "Copy/")
    library.index()
    with library.session() as session:
        found = {(one.title, one.uid == uid) for one in session.query(Album)}
    assert found == {("Trip", True), ("Trip", False), ("Another trip", False)}
    assert library.names(album="Trip") == ["Copy/c.jpg", "Summer/moved Trip/a.jpg", "Summer/moved Trip/b.jpg"]
    assert library.names(album="Another trip") == ["Gone/b.jpg"]


def test_an_album_whose_file_is_gone_or_broken_for_a_while_is_not_made_again(library):
    contents = {"gone": None, "broken": b"{", "empty": b"{}"}
    titles = [f"{how} {kept}" for how in contents for kept in ("kept", "deleted")]
    for width, title in enumerate(titles, 61):
        put_all(library, {"a.jpg": jpeg(width), "metadata.json": album(title)}, f"{title}/")
    library.index()
    delete_albums(library, *(title for title in titles if "deleted" in title))
    for title in titles:
        path, content = f"{title}/metadata.json", contents[title.split()[0]]
        if content is None:
            (library.originals / path).unlink()
        else:
            library.put(path, content, age=1800)
    library.index()
    assert library.index().missing == 0
    for title in titles:
        library.put(f"{title}/metadata.json", album(title), age=900)
    assert counts(library.index()) == (6, 0, 6, 0, 0, 0)
    assert counts(library.index()) == (0, 0, 12, 0, 0, 0)
    assert albums(library) == {title: ["a"] for title in sorted(titles) if "kept" in title}


def test_a_changed_or_lost_sidecar_of_a_duplicate_changes_the_photo(library):
    put_copies(library)
    library.index()
    library.put("b/q.jpg.xmp", written("Evening"), age=1800)
    library.index()
    assert photos(library, title_words_and_rating) == {"a/p": ("Evening", ["boat", "lake"], 3)}
    (library.originals / "b/q.jpg.xmp").unlink()
    library.index()
    assert photos(library, title_words_and_rating) == {"a/p": ("Unknown", ["boat", "lake"], 3)}


def test_a_duplicate_that_is_gone_or_another_picture_takes_its_sidecar_with_it(library):
    becomes = {"gone": None, "other": jpeg(80), "words": b"no picture"}
    for width, folder in enumerate(becomes, 61):
        put_copies(library, f"{folder}/", width)
    library.index()
    for folder, content in becomes.items():
        if content is None:
            (library.originals / folder / "b/q.jpg").unlink()
        else:
            library.put(f"{folder}/b/q.jpg", content, age=1800)
    library.index()
    library.index()
    left = {f"{folder}/a/p": ("Unknown", ["boat", "lake"], 3) for folder in becomes}
    other = {"other/b/q": ("Morning", ["fog", "lake"], 5)}
    assert photos(library, title_words_and_rating) == left | other
    with library.session() as session:
        assert session.query(copy_sidecars).count() == 0


def test_when_the_first_of_two_copies_is_gone_or_edited_its_photo_keeps_the_sidecars_of_the_other(library):
    put_copies(library)
    library.index()
    library.put("a/p.jpg", jpeg(80), age=1800)
    library.index()
    library.index()
    assert ratings(library) == {"a/p": 3, "b/q": 5}
    (library.originals / "a/p.jpg").unlink()
    library.index()
    assert photos(library, title_words_and_rating) == {"b/q": ("Morning", ["fog", "lake"], 5)}


ONE = "takeout-20240501T101500Z-001/Takeout/Google Photos"
TWO = "takeout-20240501T101500Z-002/Takeout/Google Photos"


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        (ONE, TWO, True),
        ("Takeout/Google Photos", "Takeout 2/Google Photos", True),
        ("x/takeout-1/Takeout/Google Photos", "x/takeout-2/Takeout/Google Photos", True),
        ("Ada/Takeout/Google Photos", "Bob/Takeout/Google Photos", False),
        (ONE, "takeout-20230501T101500Z-002/Takeout/Google Photos", False),
        ("one", "two", False),
    ],
)
def test_parts_of_a_takeout_that_were_unpacked_apart_are_one_tree(library, first, second, is_one):
    library.put(f"{first}/Trip/a.jpg", jpeg(61))
    library.put(f"{second}/Trip/b.jpg", jpeg(62))
    library.put(f"{second}/Trip/a.jpg.json", takeout("a.jpg", people=[{"name": "Ada"}]))
    library.put(f"{second}/Trip/metadata.json", album())
    library.index()
    library.put(f"{first}/Trip/b.jpg.supplemental-metadata.json", takeout("b.jpg", people=[{"name": "Bob"}]))
    library.put(f"{first}/Trip/c.jpg", jpeg(63))
    library.index()
    people = {name.rpartition("/")[2]: shown[0] for name, shown in photos(library, people_and_flags).items()}
    assert people == ({"a": ["Ada"], "b": ["Bob"], "c": []} if is_one else {"a": [], "b": [], "c": []})
    assert albums(library) == {"Trip": ["a", "b", "c"] if is_one else ["b"]}


def test_a_picture_beside_its_own_sidecar_has_none_of_another_part(library):
    for part, name in ((ONE, "Ada"), (TWO, "Bob")):
        library.put(f"{part}/Trip/a.jpg", jpeg(61 if part == ONE else 62))
        library.put(f"{part}/Trip/a.jpg.json", takeout("a.jpg", people=[{"name": name}]))
    library.index()
    assert photos(library, lambda photo: people_and_flags(photo)[0]) == {
        f"{ONE}/Trip/a": ["Ada"],
        f"{TWO}/Trip/a": ["Bob"],
    }
