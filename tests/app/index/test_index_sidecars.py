"""Sidecars over HTTP: what an owner sees of a folder of pictures with sidecars, in whatever order they come."""

import json
import unicodedata
from itertools import permutations

import pytest

from photosvc.models import Album, AlbumPhoto, File, Photo, Sidecar, copy_sidecars
from tests.helpers.library import counts, open_library, reasons
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


def ratings(library):
    with library.session() as session:
        return {photo.name: photo.rating for photo in session.query(Photo)}


@pytest.mark.slow
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


@pytest.mark.slow
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


PARTS = {"a.jpg": jpeg(61), "a.xmp": rated(4), "a.jpg.json": takeout()}


@pytest.mark.slow
@pytest.mark.parametrize("order", list(permutations(PARTS)))
def test_a_picture_and_its_sidecars_may_come_in_any_order(library, order):
    for name in order:
        library.put(name, PARTS[name])
        library.index()
    assert ratings(library) == {"a": 4}
    assert [record["Description"] for record in library.find()] == ["At the lake"]
    assert counts(library.index()) == (0, 0, 3, 0, 0, 0)


@pytest.mark.slow
def test_a_changed_sidecar_reads_no_picture_again(library):
    picture = library.put("a.jpg", jpeg(61))
    library.put("a.jpg.xmp", rated(2))
    library.index()
    seen = picture.stat().st_atime_ns
    library.put("a.jpg.xmp", rated(5), age=1800)
    assert counts(library.index()) == (0, 1, 1, 0, 0, 0)
    assert ratings(library) == {"a": 5}
    assert picture.stat().st_atime_ns == seen


@pytest.mark.slow
def test_a_sidecar_that_is_gone_takes_its_values_with_it(library):
    library.put("a.jpg", jpeg(61))
    library.index()
    bare = library.stored()
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
    assert library.stored() == bare


def test_what_people_set_stays(library):
    library.put("a.jpg", jpeg(61))
    library.index()
    with library.session() as session:
        photo = session.query(Photo).one()
        photo.description, photo.description_src = "by hand", "manual"
        photo.favorite, photo.favorite_src = False, "manual"
    library.put("a.jpg.json", takeout(favorited=True))
    library.index()
    (record,) = library.find()
    assert (record["Description"], record["Favorite"], record["PlaceCity"]) == ("by hand", False, "Paris")


@pytest.mark.slow
def test_one_sidecar_may_belong_to_several_pictures(library):
    library.put("a.jpg", jpeg(61))
    library.put("a-edited.jpg", jpeg(62))
    library.put("a.png", jpeg(63))
    library.put("a.jpg.json", takeout())
    library.put("a.xmp", rated(4))
    library.index()
    described = {record["FileName"]: record["Description"] for record in library.find()}
    assert {described[name] for name in described if name.startswith("a")} == {"At the lake"}
    assert ratings(library)["a"] == 4


@pytest.mark.slow
def test_the_owner_of_a_sidecar_moves_with_it(library):
    picture, sidecar = library.put("a.jpg", jpeg(61)), library.put("a.jpg.xmp", rated(4))
    library.index()
    (library.originals / "b").mkdir()
    picture.rename(library.originals / "b/c.jpg")
    library.index()
    assert ratings(library) == {"c": 0}
    sidecar.rename(library.originals / "b/c.jpg.xmp")
    library.index()
    assert ratings(library) == {"c": 4}


@pytest.mark.slow
def test_a_broken_sidecar_is_named_and_harms_no_picture(library):
    library.put("a.jpg", jpeg(61))
    library.put("a.xmp", b"<x:xmpmeta")
    library.put("b.jpg", jpeg(62))
    library.put("b.jpg.json", b'{"title": ')
    run = library.index()
    assert counts(run) == (2, 0, 0, 0, 0, 2)
    assert reasons(run.failed) == [(name, "the sidecar cannot be read") for name in ("a.xmp", "b.jpg.json")]
    assert library.names() == ["a.jpg", "b.jpg"]
    assert counts(library.index()) == (0, 0, 2, 0, 2, 0)


@pytest.mark.slow
def test_other_json_files_are_skipped_without_a_failure(library):
    library.put("a.jpg", jpeg(61))
    library.put("package.json", b'{"name": "x", "title": "y"}')
    library.put("cut.json", b'{"name": ')
    library.put("list.json", b"[1, 2]")
    library.put("a.json", b"7")
    assert counts(library.index()) == (1, 0, 0, 0, 4, 0)
    assert counts(library.index()) == (0, 0, 1, 0, 4, 0)


def album_titles(library):
    with library.session() as session:
        albums = session.query(Album).order_by(Album.title)
        return {
            album.title: sorted(
                session.get(Photo, row.photo_id).name for row in session.query(AlbumPhoto).filter_by(album_id=album.id)
            )
            for album in albums
        }


def album(title="Trip", **values):
    return json.dumps({"title": title, "description": "By train", "access": "protected", **values}).encode()


@pytest.mark.slow
def test_a_folder_of_takeout_becomes_an_album_of_its_photos_and_of_copies(library):
    library.put("Photos from 2020/a.jpg", jpeg(61))
    library.put("Photos from 2020/metadata.json", album("Photos from 2020"))
    library.put("Trip/a.jpg", jpeg(61))
    library.put("Trip/b.jpg", jpeg(62))
    library.put("Trip/Metadaten.json", album())
    library.index()
    assert album_titles(library) == {"Trip": ["a", "b"]}
    assert library.names(album="Trip") == ["Photos from 2020/a.jpg", "Trip/b.jpg"]
    library.put("Trip/c.jpg", jpeg(63))
    library.index()
    assert album_titles(library) == {"Trip": ["a", "b", "c"]}


@pytest.mark.slow
def test_the_folder_of_a_year_is_no_album_in_another_language_and_other_titles_with_a_year_are(library):
    for number, title in enumerate([unicodedata.normalize("NFD", "Foton från 2014"), "Holidays 2014"]):
        library.put(f"{title}/a.jpg", jpeg(61 + number))
        library.put(f"{title}/metadata.json", album(title))
    library.index()
    assert album_titles(library) == {"Holidays 2014": ["a"]}


@pytest.mark.slow
def test_a_sidecar_of_takeout_is_found_by_a_cut_name_and_a_title_without_extension(library):
    picture = f"{'n' * 43}-edi.jpg"
    library.put(picture, jpeg(61))
    library.put("other.jpg", jpeg(62))
    library.put(f"{'n' * 43}.su.json", takeout("n" * 43))
    library.index()
    assert {record["FileName"]: record["Description"] for record in library.find()} == {
        picture: "At the lake",
        "other.jpg": "",
    }


@pytest.mark.slow
def test_an_edited_copy_whose_suffix_was_cut_is_one_photo_with_its_original(library):
    library.put(f"{'n' * 43}.jpg", jpeg(61))
    library.put(f"{'n' * 43}-edi.jpg", jpeg(62))
    library.put(f"{'m' * 42}-edi.jpg", jpeg(63))
    library.put(f"{'m' * 42}.jpg", jpeg(64))
    library.index()
    assert len({record["UID"] for record in library.find()}) == 3


@pytest.mark.slow
def test_an_album_is_made_of_photos_that_were_there_before(library):
    library.put("Old/a.jpg", jpeg(61))
    library.put("Trip/a.jpg", jpeg(61))
    library.put("Trip/b.jpg", jpeg(62))
    library.index()
    library.put("Trip/metadata.json", album())
    library.index()
    assert library.names(album="Trip") == ["Old/a.jpg", "Trip/b.jpg"]


@pytest.mark.slow
def test_an_album_belongs_to_its_owner(library):
    library.put("Trip/a.jpg", jpeg(61))
    library.put("Trip/b.jpg", jpeg(62))
    library.put("Trip/metadata.json", album())
    library.index()
    with library.session() as session:
        session.query(Album).one().title = "Our trip"
        session.query(AlbumPhoto).filter_by(photo_id=1).delete()
    library.put("Trip/metadata.json", album("Journey", description="By ship"), age=1800)
    library.index(force=True)
    with library.session() as session:
        found = session.query(Album).one()
        assert (found.title, found.description) == ("Our trip", "By ship")
        session.query(AlbumPhoto).delete()
        session.query(Album).delete()
    library.put("Trip/metadata.json", album("Again"), age=900)
    library.index()
    assert album_titles(library) == {}


@pytest.mark.slow
def test_an_album_stays_the_same_when_its_folder_moves(library):
    library.put("Trip/a.jpg", jpeg(61))
    library.put("Trip/metadata.json", album())
    library.index()
    with library.session() as session:
        uid = session.query(Album).one().uid
    (library.originals / "Trip").rename(library.originals / "Journey")
    library.index()
    library.put("Journey/b.jpg", jpeg(62))
    assert counts(library.index()) == (1, 0, 2, 0, 0, 0)
    with library.session() as session:
        assert session.query(Album).one().uid == uid
    assert library.names(album="Trip") == ["Journey/a.jpg", "Journey/b.jpg"]


@pytest.mark.slow
@pytest.mark.parametrize("moves", [("Journey",), ("Journey", "Summer/Journey")])
def test_a_deleted_album_stays_deleted_when_its_folder_moves(library, moves):
    library.put("Trip/a.jpg", jpeg(61))
    library.put("Trip/metadata.json", album())
    library.index()
    with library.session() as session:
        session.query(AlbumPhoto).delete()
        session.query(Album).delete()
    folder = library.originals / "Trip"
    for name in moves:
        (library.originals / name).parent.mkdir(exist_ok=True)
        folder = folder.rename(library.originals / name)
        library.index()
    library.index(force=True)
    assert album_titles(library) == {}
    library.put("Trip/b.jpg", jpeg(62))
    library.put("Trip/metadata.json", album("Another trip"))
    library.index()
    assert album_titles(library) == {"Another trip": ["b"]}


@pytest.mark.slow
def test_the_copy_of_a_folder_is_an_album_of_its_own(library):
    for folder, width in (("Trip", 61), ("Copy", 62)):
        library.put(f"{folder}/a.jpg", jpeg(width))
        library.put(f"{folder}/metadata.json", album())
        library.index()
    with library.session() as session:
        assert session.query(Album).count() == 2


@pytest.mark.slow
@pytest.mark.parametrize("content", [None, b"{", b"{}"])
@pytest.mark.parametrize("deleted", [True, False])
def test_an_album_whose_file_is_gone_or_broken_for_a_while_is_not_made_again(library, content, deleted):
    library.put("a.jpg", jpeg(61))
    path = library.put("metadata.json", album())
    library.index()
    with library.session() as session:
        if deleted:
            session.query(AlbumPhoto).delete()
            session.query(Album).delete()
    if content is None:
        path.unlink()
    else:
        library.put("metadata.json", content, age=1800)
    library.index()
    assert library.index().missing == 0
    library.put("metadata.json", album(), age=900)
    assert counts(library.index()) == (1, 0, 1, 0, 0, 0)
    assert counts(library.index()) == (0, 0, 2, 0, 0, 0)
    with library.session() as session:
        assert session.query(Album).count() == (0 if deleted else 1)


@pytest.mark.slow
def test_sidecars_leave_no_row_behind_and_originals_as_they_were(library):
    paths = [library.put(name, PARTS[name]) for name in PARTS]
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths]
    library.index()
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths] == before
    for path in paths[1:]:
        path.unlink()
    library.index()
    with library.session() as session:
        assert (session.query(Sidecar).count(), session.query(File).count()) == (0, 1)


def test_a_subfolder_without_its_sidecar_finds_the_one_that_came_before(library):
    library.put("x/a.jpg.xmp", rated(4))
    library.put("x/b.jpg", jpeg(62))
    library.index(subfolder="x")
    library.put("x/a.jpg", jpeg(61))
    library.index(subfolder="x")
    assert ratings(library) == {"a": 4, "b": 0}


def described(library):
    """Title, description, keywords, rating, people and flags of the only photo."""
    with library.session() as session:
        photo = session.query(Photo).one()
        people = sorted(marker.name for marker in photo.files[0].markers)
        words = sorted(keyword.word for keyword in photo.keywords)
        flags = photo.favorite, photo.archived_at is not None
        return photo.title, photo.description, words, photo.rating, people, flags


def written(title="", words=(), stars=0):
    items = "".join(f"<rdf:li>{word}</rdf:li>" for word in words)
    subject = f"<dc:subject><rdf:Bag>{items}</rdf:Bag></dc:subject>" if words else ""
    name = f"<dc:title><rdf:Alt><rdf:li xml:lang='x-default'>{title}</rdf:li></rdf:Alt></dc:title>" if title else ""
    return rated(stars, properties=name + subject) if stars else xmp(name + subject)


COPIES = {
    "a/p.jpg": jpeg(61),
    "a/p.jpg.xmp": written("", ["lake", "boat"], 3),
    "b/q.jpg": jpeg(61),
    "b/q.jpg.xmp": written("Morning", ["Lake", "fog"], 5),
}


@pytest.mark.slow
@pytest.mark.parametrize("order", list(permutations(COPIES)))
def test_sidecars_of_pictures_with_equal_content_complete_each_other_in_any_order(library, order):
    for name in order:
        library.put(name, COPIES[name])
        library.index()
    title, _, words, stars, *_ = described(library)
    assert (title, sorted(map(str.casefold, words)), stars) == ("Morning", ["boat", "fog", "lake"], 3)
    assert library.index().updated == 0


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 1])
def test_the_year_folder_and_the_album_of_takeout_are_one_photo_with_the_people_and_flags_of_both(library, first):
    files = [
        ("Photos from 2020/a.jpg", jpeg(61)),
        ("Photos from 2020/a.jpg.json", takeout(description="", people=[{"name": "Ada"}], archived=True)),
        ("Trip/a.jpg", jpeg(61)),
        ("Trip/a.jpg.json", takeout(people=[{"name": "Bob"}, {"name": "ada"}], favorited=True)),
        ("Trip/metadata.json", album()),
    ]
    for name, content in files[::-1] if first else files:
        library.put(name, content)
        library.index()
    assert described(library)[1::3] == ("At the lake", ["Ada", "Bob"])
    assert described(library)[-1] == (True, False)
    assert album_titles(library) == {"Trip": ["a"]}


@pytest.mark.slow
def test_two_copies_in_one_folder_of_takeout_have_sidecars_of_their_own(library):
    library.put("a.jpg", jpeg(61))
    library.put("a(1).jpg", jpeg(61))
    library.put("a.jpg.json", takeout(people=[{"name": "Ada"}]))
    library.put("a.jpg(1).json", takeout(people=[{"name": "Bob"}]))
    library.index()
    assert described(library)[4] == ["Ada", "Bob"]


@pytest.mark.slow
def test_a_changed_or_lost_sidecar_of_a_duplicate_changes_the_photo(library):
    for name, content in COPIES.items():
        library.put(name, content)
    library.index()
    library.put("b/q.jpg.xmp", written("Evening"), age=1800)
    library.index()
    assert described(library)[0] == "Evening"
    (library.originals / "b/q.jpg.xmp").unlink()
    library.index()
    title, _, words, stars, *_ = described(library)
    assert (title, words, stars) == ("Unknown", ["boat", "lake"], 3)


@pytest.mark.slow
@pytest.mark.parametrize("becomes", [None, jpeg(80), b"no picture"])
def test_a_duplicate_that_is_gone_or_another_picture_takes_its_sidecar_with_it(library, becomes):
    for name, content in COPIES.items():
        library.put(name, content)
    library.index()
    if becomes is None:
        (library.originals / "b/q.jpg").unlink()
    else:
        library.put("b/q.jpg", becomes, age=1800)
    library.index()
    library.index()
    assert ratings(library) == ({"p": 3, "q": 5} if becomes == jpeg(80) else {"p": 3})
    with library.session() as session:
        assert "fog" not in [keyword.word for keyword in session.query(Photo).filter_by(name="p").one().keywords]


@pytest.mark.slow
def test_when_the_first_of_two_copies_is_gone_or_edited_its_photo_keeps_the_sidecars_of_the_other(library):
    for name, content in COPIES.items():
        library.put(name, content)
    library.index()
    library.put("a/p.jpg", jpeg(80), age=1800)
    library.index()
    library.index()
    assert ratings(library) == {"p": 3, "q": 5}
    (library.originals / "a/p.jpg").unlink()
    library.index()
    with library.session() as session:
        shown = session.query(Photo).filter(Photo.quality >= 0).one()
        assert (shown.name, shown.title, shown.rating) == ("q", "Morning", 5)


@pytest.mark.slow
def test_a_value_that_a_person_set_stays_when_the_sidecar_of_a_duplicate_comes(library):
    library.put("a/p.jpg", jpeg(61))
    library.put("b/q.jpg", jpeg(61))
    library.index()
    with library.session() as session:
        photo = session.query(Photo).one()
        photo.title, photo.title_src, photo.private = "Mine", "manual", True
        uid = photo.uid
    library.put("b/q.jpg.xmp", COPIES["b/q.jpg.xmp"])
    library.index()
    with library.session() as session:
        photo = session.query(Photo).one()
        assert (photo.uid, photo.title, photo.private, photo.rating) == (uid, "Mine", True, 5)


@pytest.mark.slow
def test_a_deleted_copy_leaves_no_link_behind_in_both_databases(tmp_path, new_database):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    for name, content in COPIES.items():
        library.put(name, content)
    library.index()
    assert described(library)[0] == "Morning"
    (library.originals / "b/q.jpg").unlink()
    library.index()
    assert described(library)[0] != "Morning"
    with library.session() as session:
        assert session.query(copy_sidecars).count() == 0
    library.close()
