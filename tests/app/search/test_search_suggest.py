"""GET /suggest: filters and values for what is typed, compared with plain search, on both databases."""

import pytest
from sqlalchemy import select

from photosvc.models import Marker
from photosvc.search.rows.write import project
from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.library import open_library

PATH = "/api/v1/suggest"
#: Of these a suggestion finds exactly the photos that it counts.
EXACT = {"city", "state", "country", "color", "type", "year"}


@pytest.fixture(scope="module")
def varied(new_database, tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("suggest"), settings={"PHOTOSVC_DATABASE_URI": new_database()})
    with library.session() as session:
        session.expire_on_commit = False
        photos, albums = fill_varied_library(session, photos=60)
        session.commit()
        tokens = {True: library.token("*", role="admin"), False: library.token("*", role="viewer")}
    yield library, photos, albums, tokens
    library.close()


def ask(library, query, token=None, **asked):
    answer = library.get({"q": query, **asked}, path=PATH, token=token)
    assert answer.status_code == 200, answer.text
    return answer.json


def texts(library, query, **asked):
    return [one["text"] for one in ask(library, query, **asked)["suggestions"]]


def total(library, query, token):
    return library.get({"q": query}, path="/api/v1/photos/timeline", token=token).json["total"]


def test_a_suggested_value_finds_the_photos_that_it_counts(varied):
    for sees_private in (True, False):
        library, _, _, tokens = varied
        token = tokens[sees_private]
        for query in (
            *("camera:", "lens:", "city:", "state:", "place:", "country:", "subject:", "album:", "keywords:", "label:"),
            *("color:", "type:", "year:", "c", "l", "j", "s", "n", "b", "lake", "new", "東", "mü", "Élan"),
        ):
            found = ask(library, query, token)
            assert len(found["suggestions"]) <= 12, query
            for one in found["suggestions"]:
                written = query[: found["start"]] + one["text"] + query[found["end"] :]
                if one["kind"] == "filter":
                    assert written == f"{one['label']}:", query
                    continue
                searched = total(library, written, token)
                if one["count"] is not None:
                    assert one["count"] >= 1, written
                    assert searched == one["count"] if one["kind"] in EXACT else searched >= one["count"], written
                    assert not one["more"], written


def test_a_name_is_suggested_by_the_beginning_of_any_of_its_words(varied):
    library, _, _, tokens = varied
    for query, expected in (
        ("camera:can", '"Canon EOS 5D"'),
        ("camera:eos", '"Canon EOS 5D"'),
        ("CANON", 'camera:"Canon EOS 5D"'),
        ("lens:elm", '"Élmar 35"'),
        ("munch", "city:München"),
        ("city:Paris|mun", "München"),
        ("bav", "state:Bavaria"),
        ("germ", "country:de"),
        ("country:de", "de"),
        ("jane", 'subject:"Jane Doe"'),
        ("person:o", '"John O\'Hara"'),
        ("tags:sun", "sun-set"),
        ("york", 'keywords:"new york"'),
        ("blu", "color:blue"),
        ("vide", "video:"),
        ("tag", "keywords:"),
        ("favorite:", "true"),
        ("is:fav", "favorite"),
        ("month:ju", "july"),
        ("", "camera:"),
        ("lake ", "camera:"),
    ):
        assert expected in texts(library, query, token=tokens[True]), query


def test_the_position_of_the_cursor_decides_what_is_replaced(varied):
    found = ask(varied[0], "camera:can year:2020", at=9)
    assert (found["start"], found["end"]) == (7, 10)
    assert '"Canon EOS 5D"' in [one["text"] for one in found["suggestions"]]
    assert texts(varied[0], "camera:can year:2020", at=0) == texts(varied[0], "")


def test_what_only_private_photos_have_is_suggested_to_nobody_else(tmp_path):
    library = open_library(tmp_path)
    with library.session() as session:
        session.expire_on_commit = False
        photos, _ = fill_varied_library(session, photos=20)
        secret = next(photo for photo in photos if photo.private and not photo.archived_at and photo.quality >= 0)
        shown = next(file for file in secret.files if not (file.sidecar or file.missing or file.error))
        marker = session.scalars(select(Marker)).first()
        session.add(
            Marker(
                uid="mzsecretzsecretz",
                file_id=shown.id,
                name="Secret Person",
                created_at=marker.created_at,
                type="face",
            )
        )
        session.flush()
        project(session, [secret.id])
        session.commit()
        tokens = {True: library.token("*", role="admin"), False: library.token("*", role="viewer")}
    secret_person = 'subject:"Secret Person"'
    assert secret_person in texts(library, "secret", token=tokens[True])
    assert secret_person not in texts(library, "secret", token=tokens[False])
    assert texts(library, "person:secr", token=tokens[False]) == []
    library.close()


def test_an_unfinished_query_is_answered(varied):
    for query in (
        *('"', 'city:"', "((((", "-", "|", "camera:|||", "nosuch:x", "is:nothing", "x" * 4096),
        *("near:", "size:", "%", "_%\\"),
    ):
        assert varied[0].get({"q": query}, path=PATH).status_code == 200, query


def test_a_bad_parameter_is_refused_by_name(varied):
    for field, value in (("q", "x" * 4097), ("q", "\0"), ("at", "-1"), ("at", "x")):
        answer = varied[0].get({field: value}, path=PATH)
        assert answer.status_code == 400, value
        assert [detail["field"] for detail in answer.json["details"]] == [field], value


def test_unchanged_suggestions_are_answered_304_until_the_library_changes(tmp_path):
    library = open_library(tmp_path)
    with library.session() as session:
        photos, _ = fill_varied_library(session, photos=8)
        first = photos[0].id
    client, token = library.app.test_client(), {"X-Auth-Token": library.token(role="admin")}
    tag = client.get(f"{PATH}?q=can", headers=token).headers["ETag"]
    assert client.get(f"{PATH}?q=can", headers={**token, "If-None-Match": tag}).status_code == 304
    assert client.get(f"{PATH}?q=cam", headers={**token, "If-None-Match": tag}).status_code == 200
    with library.session() as session:
        project(session, [first])
        session.commit()
    assert client.get(f"{PATH}?q=can", headers={**token, "If-None-Match": tag}).status_code == 200
    library.close()
