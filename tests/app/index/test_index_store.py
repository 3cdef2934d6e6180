from dataclasses import fields
from datetime import timedelta

import pytest
from sqlalchemy import event, select

from photosvc.core.problems import Problem, Reason
from photosvc.index.extract import Extraction
from photosvc.index.file_columns import add_area, read_extraction
from photosvc.index.scan import ScannedFile
from photosvc.index.shared_rows import SharedRows
from photosvc.index.store import Saved, Store
from photosvc.media.metadata import Metadata, Region
from photosvc.models import Camera, File, Keyword, Photo, Place, RejectedFile, SearchDocument, SearchRow, SearchText
from photosvc.models.engine import begin_write
from photosvc.search.rows.check import rebuild
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos, new_extraction, raw_of


@pytest.fixture
def session(library):
    with library.session() as session:
        yield session


def store(library, session, now=NOW):
    return Store(session, SharedRows(session, "UTC"), library.originals, now)


def found(name, extraction):
    return ScannedFile(name, extraction.size, extraction.mtime_ns)


def save(library, session, name, extraction, now=NOW):
    one = store(library, session, now)
    saved = one.save(found(name, extraction), extraction)
    duplicate = saved.problem is not None and saved.problem.reason is Reason.DUPLICATE
    assert one.finish() == (not duplicate)
    return saved


def test_a_rejected_file_is_remembered_until_it_is_read(library, session):
    extraction = new_extraction(1)
    one = store(library, session)
    one.reject(found("a.jpg", extraction), Problem(Reason.EMPTY))
    one.reject(found("a.jpg", extraction), Problem.of(Reason.WRONG_CONTENT, "picture"))
    one.finish()
    assert [(row.reason, row.detail) for row in session.scalars(select(RejectedFile))] == [("wrong_content", "picture")]
    save(library, session, "a.jpg", extraction)
    assert session.query(RejectedFile).count() == 0


def test_hiding_photos_by_statements_leaves_what_describing_them_would(library, session):
    for number, name in enumerate(["a.jpg", "b.jpg", "c.jpg"]):
        save(library, session, name, new_extraction(number))
    save(library, session, "b.dng", raw_of(new_extraction(1), 4))
    assert session.query(SearchRow).count() == session.query(SearchDocument).count() == 4
    one = store(library, session, NOW + timedelta(days=1))
    assert one.mark_missing(["a.jpg", "b.dng", "never.jpg"]) == ["a.jpg", "b.dng"]
    assert one.mark_missing(["a.jpg"]) == []
    assert one.finish() == 1
    session.commit()
    later = NOW + timedelta(days=1)
    hidden, partly, shown = session.scalars(select(Photo).order_by(Photo.name)).all()
    assert (hidden.quality, hidden.updated_at, hidden.checked_at) == (-1, later, later)
    assert (partly.quality >= 0, partly.checked_at) == (True, later)
    assert (shown.quality >= 0, shown.checked_at) == (True, NOW)
    assert session.query(SearchDocument).count() == 2
    rows, texts = session.scalars(select(SearchRow.file_key)).all(), session.scalars(select(SearchText.words)).all()
    rebuild(session)
    assert sorted(rows) == ["b.jpg", "c.jpg"] == sorted(session.scalars(select(SearchRow.file_key)))
    assert sorted(texts) == sorted(session.scalars(select(SearchText.words)))


def test_markers_of_the_file_are_replaced_and_areas_of_people_stay(library, session):
    face = Region(kind="face", name="Ada", x=0.1, y=0.2, w=0.3, h=0.4)
    save(library, session, "a.jpg", new_extraction(1, metadata=Metadata(regions=(face,))))
    (marker,) = session.scalars(select(File)).one().markers
    uid = marker.uid
    save(library, session, "a.jpg", new_extraction(1, metadata=Metadata(regions=(face,))))
    assert [marker.uid for marker in session.scalars(select(File)).one().markers] == [uid]
    file = session.scalars(select(File)).one()
    add_area(file, Region(kind="face", name="Eva", x=0.5, y=0.5, w=0.1, h=0.1))
    session.flush()
    save(library, session, "a.jpg", new_extraction(1, metadata=Metadata()))
    assert [(one.name, one.src) for one in session.scalars(select(File)).one().markers] == [("Eva", "manual")]


def test_every_field_of_an_extraction_survives_its_columns(library, session):
    metadata = Metadata(
        taken_local=NOW.replace(tzinfo=None), taken_utc=NOW, utc_offset=0, camera_make="Maker", camera_model="M1",
        camera_serial="7", lens_make="Lensmaker", lens_model="L1", iso=100, focal_length=50, f_number=2.8,
        exposure="1/60", lat=0.0, lng=0.0, altitude=-3, title="ä", description="b", keywords=("c", "d"), subject="e",
        artist="f", copyright="g", license="h", notes="i", software="j", rating=-1, document_id="k", instance_id="l",
        content_id="n", burst_id="o", date_parts=1, modified_local=NOW.replace(tzinfo=None), modified_offset=60,
        labels=("p",), city="q", state="r", country="s", zone="t",
        scan=True, panorama=True, private=True, favorite=True, archived=True, edited=True,
        unfixed=True, original_name="m.jpg", regions=(Region(kind="face", name="Ada", x=0.1, y=0.2, w=0.3, h=0.4),),
    )  # fmt: skip
    extraction = new_extraction(
        1, metadata=metadata, orientation=6, motion=True, duration_ns=1, fps=29.97, frames=2,
        projection="equirectangular", color_profile="sRGB", look_1=1, look_2=2, look_3=3, look_4=65535,
        problem=Problem.of(Reason.BOMB, 144, 1000),
    )  # fmt: skip
    assert [item.name for item in fields(Metadata) if getattr(metadata, item.name) == item.default] == []
    unset = [item.name for item in fields(Extraction) if getattr(extraction, item.name) in (item.default, Metadata())]
    assert unset == ["library", "others"]  # of sidecars alone
    save(library, session, "a.jpg", extraction)
    session.expire_all()
    assert read_extraction(session.scalars(select(File)).one()) == extraction


def test_numbers_that_no_column_holds_are_the_nearest_it_does(library, session):
    far = Metadata(iso=2**40, focal_length=2**31, altitude=-(2**31) - 1, rating=2**15, lat=1.0, lng=2.0)
    extraction = new_extraction(
        1, width=2**32 - 1, height=1, frames=2**31, diff=-(2**40), duration_ns=2**63, orientation=2**15, metadata=far
    )
    save(library, session, "a.jpg", extraction)
    file, photo = session.scalars(select(File)).one(), session.scalars(select(Photo)).one()
    assert (file.width, file.height, file.frames, file.diff) == (0, 0, 2**31 - 1, -(2**31))
    assert (file.duration_ns, file.orientation) == (2**63 - 1, 2**15 - 1)
    assert (photo.iso, photo.focal_length, photo.altitude, photo.rating) == (2**31 - 1, 2**31 - 1, -(2**31), 2**15 - 1)
    save(library, session, "a.jpg", new_extraction(2, width=2**31 - 1, height=2**31 - 1, metadata=far))
    assert session.scalars(select(Photo.resolution)).all()[-1] == 2**31 - 1


def test_a_new_file_makes_a_photo_and_its_row_and_shares_what_others_have(library, session):
    assert save(library, session, "a/b.jpg", new_extraction(1)) == Saved(None, new=True)
    photo = session.scalars(select(Photo)).one()
    assert (photo.path, photo.name, photo.country, photo.place.city) == ("a", "b", "fr", "Paris")
    assert session.scalars(select(SearchRow.photo_uid)).all() == [photo.uid]
    for number in (5, 13):
        save(library, session, f"{number}.jpg", new_extraction(number))
    assert session.query(Camera).filter_by(make="Maker").count() == 2
    assert session.query(Place).filter(Place.id != "zz").count() == 1
    assert sorted(session.scalars(select(Keyword.word))) == ["number 1", "number 13", "number 5", "tree"]


def test_storing_new_files_takes_as_many_steps_of_sqlite_in_a_large_library(library, session):
    steps: list[int] = []
    for first, photos in ((0, 10), (100, 200)):
        begin_write(session)
        add_photos(session, photos, NOW, first)
        session.expunge_all()
        driver = session.connection().connection.driver_connection
        steps.append(0)

        def step():
            steps[-1] += 1

        driver.set_progress_handler(step, 10)
        one = store(library, session)
        new = [(f"new/{first}-{n}.jpg", new_extraction(9000 + first + n, metadata=Metadata())) for n in range(5)]
        batch = [(found(name, extraction), extraction) for name, extraction in new]
        one.load([name for name, _ in new], batch)
        for file, extraction in batch:
            one.save(file, extraction)
        one.finish()
        driver.set_progress_handler(None, 0)
    assert steps[1] < 1.2 * steps[0]


def test_new_files_are_described_before_they_are_inserted_together(library, session):
    statements: list[str] = []
    one = store(library, session)
    batch = [
        (found(f"new/{number}.jpg", extraction), extraction)
        for number, extraction in ((number, new_extraction(number, metadata=Metadata())) for number in range(9))
    ]
    one.load([file.name for file, _ in batch], batch)
    for file, extraction in batch:
        one.save(file, extraction)
    engine = session.get_bind()
    event.listen(engine, "before_cursor_execute", lambda _, __, statement, *___: statements.append(statement))
    one.finish()
    for table in ("photos", "files", "stack_keys"):
        assert len([text for text in statements if text.startswith(f"INSERT INTO photosvc_{table} ")]) == 1, table
        assert not [text for text in statements if text.startswith(f"UPDATE photosvc_{table} ")], table
    assert session.query(Photo).filter(Photo.quality >= 0).count() == 9
