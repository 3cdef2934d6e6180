"""`svc albums`: albums by title or UID."""

import json

import pytest

from tests.helpers.factories.photos import add_photos


@pytest.fixture
def albums(api):
    with api.library.session() as session:
        add_photos(session, 12, api.library.clock())
    return lambda *arguments: api.svc("albums", *arguments)


def read(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_new_album_is_filled_by_a_query_listed_shown_and_deleted(api, albums):
    made = read(albums("add", "Summer", "path:a", "type:image", "--new", "--yes", "--json"))
    count = len({record["UID"] for record in api.library.find(q="path:a type:image", count=1000)})
    assert (made["Title"], made["PhotoCount"]) == ("Summer", count)
    assert [album["UID"] for album in read(albums("ls", "--json"))] == [made["UID"]]
    assert read(albums("show", "sUMMER", "--json")) == read(albums("show", made["UID"], "--json")) == made
    again = albums("add", "Summer", "path:a", "type:image", "--yes")
    assert again.stderr == "0 photos added.\n"
    assert albums("rm", "Summer", "--yes").returncode == 0
    assert read(albums("ls", "--json")) == []
    assert albums("show", "Summer").returncode == 3


def test_computed_albums_are_listed_and_shown_but_not_changed(albums):
    folders = read(albums("ls", "--type", "folder", "--json"))
    assert sorted(album["Title"].lower() for album in folders) == ["a", "b"]
    assert read(albums("show", folders[0]["UID"], "--json"))["Type"] == "folder"
    assert albums("rm", folders[0]["UID"], "--yes").returncode == 1
    assert read(albums("ls", "b", "--type", "folder", "--json"))[0]["Title"] == "b"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["add", "Nothing", "path:a", "--yes"], 3),
        (["add", "New", "path:nowhere", "--new", "--yes"], 3),
        (["add", "New", "colr:red", "--new", "--yes"], 2),
        (["add", "New", "path:a", "--new"], 2),
        (["add", "New"], 2),
        (["rm", "New"], 3),
        (["ls", "--type", "poem"], 2),
        (["ls", "--order", "sideways"], 2),
    ],
)
def test_wrong_values_are_refused_and_change_nothing(albums, arguments, code):
    done = albums(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert read(albums("ls", "--json")) == []


def test_two_albums_with_one_title_need_their_uids(albums):
    made = [read(albums("add", "Twice", "path:a", "--new", "--yes", "--json"))["UID"] for _ in range(2)]
    done = albums("show", "Twice")
    assert done.returncode == 1
    assert all(uid in done.stderr for uid in made)
