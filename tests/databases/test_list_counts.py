"""The numbers in the lists of labels, people and months are those of searches, for any share of photos not shown."""

from itertools import cycle

import pytest

from photosvc.models import File, Marker, Photo, photo_keywords
from photosvc.models.engine import begin_write
from photosvc.search.rows.write import project
from tests.helpers.factories.photos import add_photos, edit_photos
from tests.helpers.library import open_library

_PHOTOS = 24
_LISTS = {
    "/labels": lambda entry: {"label": f'"{entry["Name"]}"'},
    "/subjects": lambda entry: {"person": f'"{entry["Name"]}"'},
    "/moments/time": lambda entry: {"s": entry["UID"]},
    "/albums?type=month": lambda entry: {"s": entry["UID"]},
}


@pytest.fixture
def marked_library(tmp_path, new_database):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    with library.session() as session:
        add_photos(session, _PHOTOS, library.clock())
        begin_write(session)
        spellings = cycle(("Ada", "ada", "Zoë", "Eve"))
        for number, file in enumerate(session.query(File).order_by(File.id)):
            for extra in range(1 + number % 2):
                marker = Marker(uid=f"m{number:014}{extra}", file_id=file.id, name=next(spellings), type="face")
                marker.created_at = library.clock()
                session.add(marker)
        session.flush()
        project(session, [row[0] for row in session.query(Photo.id)])
        session.commit()
    yield library
    library.close()


def test_lists_count_the_photos_that_a_search_finds(marked_library):
    with marked_library.session() as session:
        ids = [row[0] for row in session.query(Photo.id).order_by(Photo.id)]
        keywords = session.query(photo_keywords.c.keyword_id).distinct().count()
    assert len(marked_library.get(path="/api/v1/labels").json) == keywords
    for archived, private in ((0, 0), (1, 2), (2, 18), (18, 2), (0, _PHOTOS), (_PHOTOS, 0)):
        with marked_library.session() as session:
            edit_photos(session, ids, archived_at=None, private=False)
            edit_photos(session, ids[:archived], archived_at=marked_library.clock())
            edit_photos(session, ids[_PHOTOS - private :], private=True)
        for role, shown in (("admin", _PHOTOS - archived), ("viewer", _PHOTOS - archived - private)):
            _check_lists(marked_library, marked_library.token(role=role), shown)


def _check_lists(library, token, shown):
    assert len({record["UID"] for record in library.find(token=token)}) == shown
    for path, search in _LISTS.items():
        name, _, parameters = path.partition("?")
        listed = library.get(parameters, path=f"/api/v1{name}", token=token).json
        assert bool(listed) == bool(shown), path
        for entry in listed:
            found = {record["UID"] for record in library.find(token=token, **search(entry))}
            assert entry["PhotoCount"] == len(found) > 0, (path, entry)
