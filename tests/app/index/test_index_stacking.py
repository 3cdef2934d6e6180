"""Photos of several files in the database: joined, divided, and taken apart by persons."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import select

from photosvc.core.vocabulary import KINDS
from photosvc.index import stack_rules
from photosvc.index.batches import restack_library
from photosvc.index.scan import ScannedFile
from photosvc.index.shared_rows import SharedRows
from photosvc.index.store import Store
from photosvc.library.stacks import unstack
from photosvc.media.metadata import Metadata
from photosvc.models import STACKING, Album, AlbumPhoto, File, LibraryState, Photo, SearchRow
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import new_extraction
from tests.helpers.library import open_library

SHORT, LONG = 2_000_000_000, 9_000_000_000
RAW = {"file_type": "dng", "media_type": "raw"}
TAKEN = datetime(2020, 5, 1, 10, 0, 7)  # noqa: DTZ001 - wall time


@pytest.fixture
def session(library):
    with library.session() as session:
        yield session


def store(session, *files):
    """Store files (name, number, metadata, other values) in one batch."""

    def save(one):
        for name, number, metadata, values in files:
            extraction = new_extraction(number, **{"metadata": metadata, **values})
            one.save(ScannedFile(name, extraction.size, extraction.mtime_ns), extraction)

    use(session, save)


def stacked_by(library, *kinds):
    return replace(library.settings, stack_by=", ".join(kinds) or "none")


def vanish(session, *names):
    use(session, lambda one: one.mark_missing(names))


LOOK = {"look_1": 7, "look_2": 7, "look_3": 7, "look_4": 7}


def jpg(name, number, metadata=None, **values):
    """A picture that looks like all others unless its values say otherwise."""
    return name, number, metadata or Metadata(), {**LOOK, **values}


def mov(name, number, duration_ns=SHORT, metadata=None):
    values = {"file_type": "mov", "media_type": "video", "duration_ns": duration_ns}
    return name, number, metadata or Metadata(), values


def photos(session):
    """File names of each photo."""
    found = {}
    for name, photo_id in session.execute(select(File.name, File.photo_id).where(File.missing.is_(False))):
        found.setdefault(photo_id, set()).add(name)
    return sorted(sorted(names) for names in found.values())


def photo_of(session, name):
    return session.scalars(select(Photo).join(File).where(File.name == name)).one()


def stored(session, *columns):
    return session.execute(select(File.name, *columns).join(Photo, Photo.id == File.photo_id).order_by(File.name)).all()


DOCUMENT = Metadata(document_id="xmp.did:1")
MOMENT = Metadata(taken_local=TAKEN, camera_make="Maker", camera_model="M1", camera_serial="7", lat=48.0, lng=2.0)


def test_a_library_that_was_stacked_by_identifiers_alone_is_divided_and_all_parts_stay_private(session, library):
    store(session, *(jpg(f"{number}.jpg", number, DOCUMENT) for number in range(4)))
    photo = session.scalars(select(Photo)).one()
    photo.private, photo.title, photo.title_src, uid = True, "Mine", "manual", photo.uid
    for file in session.scalars(select(File).order_by(File.id)):
        file.look_1 = (0, 0xFF, 0xFF00, 0xFFFF)[file.id - 1]
        file.look_2 = (0, 0xFF, 0xFF00, 0xFFFF)[file.id - 1]
    session.merge(LibraryState(name=STACKING, value=0))
    session.commit()
    restack_library(session, stacked_by(library, *KINDS), library.clock)
    assert photos(session) == [["0.jpg"], ["1.jpg"], ["2.jpg"], ["3.jpg"]]
    assert set(stored(session, Photo.private, Photo.title)) == {(f"{number}.jpg", True, "Mine") for number in range(4)}
    assert photo_of(session, "0.jpg").uid == uid


def test_a_longer_video_beside_a_picture_is_a_photo_of_its_own_and_begins_without_its_values(session):
    store(session, jpg("IMG_7.jpg", 1))
    photo = photo_of(session, "IMG_7.jpg")
    photo.favorite, uid = True, photo.uid
    photo.quality = 7
    session.commit()
    store(session, mov("IMG_7.mov", 2, LONG))
    assert stored(session, Photo.type, Photo.favorite) == [("IMG_7.jpg", "image", True), ("IMG_7.mov", "video", False)]
    store(session, mov("IMG_7.mov", 3, SHORT))
    assert stored(session, Photo.type, Photo.uid) == [("IMG_7.jpg", "live", uid), ("IMG_7.mov", "live", uid)]


def test_what_persons_decided_about_both_photos_is_kept_when_they_become_one(session):
    store(session, jpg("a/x.jpg", 1), jpg("b/y.jpg", 2))
    one, other = photo_of(session, "a/x.jpg"), photo_of(session, "b/y.jpg")
    one.title, one.title_src, one.private = "Mine", "manual", True
    other.title, other.title_src, other.favorite, other.edited_at = "Theirs", "manual", True, NOW
    other.description, other.description_src, other.quality = "words", "manual", one.quality - 1
    other.lat, other.lng, other.place_src = 10.0, 20.0, "manual"
    for number, members in ((1, (one,)), (2, (one, other)), (3, (other,))):
        session.add(Album(id=number, uid=f"a{number}", title=str(number), created_at=NOW, updated_at=NOW))
        session.flush()
        session.add_all(
            AlbumPhoto(album_id=number, photo_id=photo.id, position=number, created_at=NOW) for photo in members
        )
    uid = one.uid
    session.commit()
    store(session, jpg("a/x.jpg", 3, DOCUMENT), jpg("b/y.jpg", 4, DOCUMENT))
    photo = session.scalars(select(Photo)).one()
    assert (photo.uid, photo.title, photo.private, photo.favorite, photo.edited_at) == (uid, "Mine", True, True, NOW)
    assert (photo.description, photo.lat, photo.place_src, photo.stack) == ("words", 10.0, "manual", 1)
    rows = session.execute(select(AlbumPhoto.album_id, AlbumPhoto.photo_id, AlbumPhoto.position)).all()
    assert rows == [(number, photo.id, number) for number in (1, 2, 3)]
    assert session.scalars(select(SearchRow.photo_uid)).all() == [uid, uid]
    assert set(session.scalars(select(SearchRow.private))) == {True}


def test_a_file_that_leaves_its_photo_keeps_what_persons_decided(session):
    store(session, jpg("x.jpg", 1), jpg("x.dng", 2, **RAW))
    photo = photo_of(session, "x.jpg")
    photo.private, uid = True, photo.uid
    session.commit()
    file = session.scalars(select(File).where(File.name == "x.dng")).one()
    file.name = "y.dng"
    session.commit()
    store(session, jpg("y.dng", 2, **RAW))
    assert stored(session, Photo.private, Photo.type) == [("x.jpg", True, "image"), ("y.dng", True, "raw")]
    assert photo_of(session, "x.jpg").uid == uid


def test_a_missing_file_leaves_the_lead_to_another_and_returns_into_its_photo(session):
    files = jpg("IMG_1.jpg", 1), mov("IMG_1.mov", 2)
    store(session, *files)
    uid = photo_of(session, "IMG_1.jpg").uid
    vanish(session, "IMG_1.jpg")
    assert stored(session, Photo.type, File.primary, Photo.uid) == [
        ("IMG_1.jpg", "video", False, uid),
        ("IMG_1.mov", "video", True, uid),
    ]
    store(session, files[0])
    assert stored(session, Photo.type, File.primary, Photo.uid) == [
        ("IMG_1.jpg", "live", True, uid),
        ("IMG_1.mov", "live", False, uid),
    ]


def test_a_key_that_too_many_files_share_joins_none_of_them(session, monkeypatch):
    monkeypatch.setattr("photosvc.index.restack.MAX_FILES", 5)
    frames = [jpg(f"{number:02}.jpg", number, DOCUMENT) for number in range(1, 13)]
    store(session, *frames[:3])
    store(session, *frames[3:5])
    assert [len(photo) for photo in photos(session)] == [5]
    first = photo_of(session, "01.jpg").uid
    store(session, *frames[5:7])
    assert [len(photo) for photo in photos(session)] == [1] * 7
    assert photo_of(session, "01.jpg").uid == first
    store(session, *frames[7:])
    assert [len(photo) for photo in photos(session)] == [1] * 12
    assert session.scalars(select(SearchRow.is_primary)).all() == [True] * 12


def test_a_new_picture_under_the_name_of_one_that_waits_does_not_join_its_photo_through_a_video_without_a_date(session):
    store(session, jpg("IMG_1.jpg", 1, MOMENT), mov("IMG_1.mov", 2))
    photo = photo_of(session, "IMG_1.jpg")
    photo.title, photo.title_src, uid = "Mine", "manual", photo.uid
    session.commit()
    later = replace(MOMENT, taken_local=TAKEN + timedelta(days=900))
    store(session, jpg("IMG_1.jpg", 3, later, look_1=0xFFFF))
    new, old = stored(session, Photo.uid, Photo.title_src), photo_of(session, "IMG_1.mov").uid
    assert [(name.rpartition("/")[2], source) for name, photo_uid, source in new if photo_uid == uid] == [
        ("IMG_1.jpg", "manual"),
        ("IMG_1.mov", "manual"),
    ]
    assert (old, photos(session)) == (uid, [["IMG_1.jpg"], ["IMG_1.mov"]])
    store(session, jpg("back.jpg", 1, MOMENT))
    assert photo_of(session, "back.jpg").title == photo_of(session, "IMG_1.mov").title == "Mine"


def test_the_same_files_give_the_same_photos_in_any_order_and_in_any_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("photosvc.index.restack.MAX_FILES", 6)
    monkeypatch.setattr(stack_rules, "MAX_FILES", 6)
    random = Random(100)
    files = []
    for number in range(1, 41):
        folder, base = random.choice("ab"), random.choice(["IMG_1000", "img_1000", "IMG_E1000", "IMG_1000_HEVC", "x"])
        metadata = Metadata(
            burst_id=random.choice(["", "", "b1", "b2"]),
            document_id=random.choice(["", "", "", *(f"xmp.did:{one}" for one in range(9))]),
            content_id=random.choice(["", "", "c1", "c2", "c3"]),
            taken_local=random.choice([None, None, TAKEN, TAKEN + timedelta(seconds=2)]),
        )
        if random.random() < 0.3:
            files.append(mov(f"{folder}/{base}.{number}mov", number, random.choice((SHORT, LONG)), metadata))
        else:
            files.append(
                jpg(
                    f"{folder}/{base}{random.choice(('', number))}.{number}jpg",
                    number,
                    metadata,
                    look_1=random.choice((7, 0xFFF8)),
                )
            )
    results = []
    for order in range(3):
        library = open_library(tmp_path / str(order))
        with library.session() as session:
            left = list(files)
            random.shuffle(left)
            while left:
                size = random.randrange(1, 15) if order else len(left)
                store(session, *left[:size])
                left = left[size:]
            results.append(photos(session))
            uids = stored(session, Photo.uid)
            restack_library(session, stacked_by(library, *KINDS), library.clock)
            assert stored(session, Photo.uid) == uids
        library.close()
    assert results[1:] == results[:1] * 2
    assert 1 < max(map(len, results[0])) <= 6


def test_an_unstacked_file_is_a_photo_of_its_own_that_no_rule_joins_again(session):
    files = jpg("a/x.jpg", 1, DOCUMENT), jpg("a/x.dng", 2, DOCUMENT, **RAW), jpg("b/y.jpg", 3, DOCUMENT)
    store(session, *files)
    photo = photo_of(session, "a/x.jpg")
    photo.favorite, photo.private, uid = True, True, photo.uid
    session.commit()
    shared_rows = SharedRows(session, "UTC")
    file = session.scalars(select(File).where(File.name == "a/x.dng")).one()
    single = unstack(session, shared_rows, file, NOW)
    assert (single.stack, single.favorite, single.private, single.type) == (-1, True, True, "raw")
    session.commit()
    assert stored(session, Photo.stack, Photo.type, File.primary) == [
        ("a/x.dng", -1, "raw", True),
        ("a/x.jpg", 1, "image", True),
        ("b/y.jpg", 1, "image", False),
    ]
    assert photo_of(session, "a/x.jpg").uid == uid
    store(session, *files)
    store(session, jpg("a/x.png", 4, DOCUMENT, file_type="png"))
    assert photos(session) == [["a/x.dng"], ["a/x.jpg", "a/x.png", "b/y.jpg"]]


def test_another_choice_of_kinds_stacks_the_library_again_once(session, library):
    store(session, jpg("a.jpg", 1, DOCUMENT), jpg("b.jpg", 2, DOCUMENT), jpg("b (2).jpg", 3))
    for kinds, expected in (
        ({"names"}, [["a.jpg"], ["b (2).jpg", "b.jpg"]]),
        ({"document"}, [["a.jpg", "b.jpg"], ["b (2).jpg"]]),
        (set(), [["a.jpg"], ["b (2).jpg"], ["b.jpg"]]),
    ):
        assert restack_library(session, stacked_by(library, *kinds), library.clock) == 3
        assert photos(session) == expected
        assert restack_library(session, stacked_by(library, *kinds), library.clock) == 0


def use(session, act, now=NOW, kinds=KINDS):
    """Let a store do something and finish."""
    one = Store(session, SharedRows(session, "UTC"), Path("/nonexistent"), now, kinds)
    act(one)
    one.finish()
    session.commit()
    session.expunge_all()


def test_the_better_photo_stays_and_is_archived_only_when_all_that_it_is_made_of_were(session):
    for number, (archived, expected) in enumerate((((True, True), True), ((True, False), False)), 1):
        names = f"{number}/x.jpg", f"{number}/y.jpg"
        store(session, jpg(names[0], 10 * number), jpg(names[1], 10 * number + 1))
        for name, hidden in zip(names, archived, strict=True):
            photo_of(session, name).archived_at = NOW if hidden else None
        photo_of(session, names[1]).quality = 7
        uid = photo_of(session, names[1]).uid
        session.commit()
        shared = Metadata(document_id=f"xmp.did:{number}")
        store(session, jpg(names[0], 10 * number + 2, shared), jpg(names[1], 10 * number + 3, shared))
        found = photo_of(session, names[0])
        assert (found.uid, photo_of(session, names[1]).uid) == (uid, uid), archived
        assert (found.archived_at is not None) is expected, archived
