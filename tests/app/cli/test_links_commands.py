"""`svc links`: public links to albums."""

import json

import pytest

from tests.helpers.factories.photos import add_photos


@pytest.fixture
def links(api):
    with api.library.session() as session:
        add_photos(session, 6, api.library.clock())
    api.svc("albums", "add", "Summer", "path:a", "--new", "--yes")
    api.svc("albums", "add", "Winter", "path:b", "--new", "--yes")
    return lambda *arguments, **options: api.svc("links", *arguments, **options)


def read(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def visit(api, token, **values):
    return api.call("POST", "/session", json={"token": token, **values}).status_code


def test_a_link_is_made_listed_changed_and_ended(api, links):
    made = read(links("add", "sUMMER", "-e", "30d", "--max-views", "9", "--comment", "Family", "--json"))
    assert (made["Slug"], made["MaxViews"], made["CreatedBy"]) == ("summer", 9, "")
    assert made["ExpiresAt"] == "2026-03-31T12:00:00Z"
    assert made["Address"] == f"/s/{made['Token']}/summer"
    assert visit(api, made["Token"]) == 200
    (listed,) = read(links("ls", "Summer", "--json"))
    assert (listed["UID"], listed["Views"], listed["Comment"]) == (made["UID"], 1, "Family")
    assert "Token" not in listed
    assert read(links("ls", "Winter", "--json")) == []
    changed = read(links("mod", made["UID"], "--metadata", "--download", "-e", "0", "--slug", "Our Lake", "--json"))
    assert (changed["ShowMetadata"], changed["CanDownload"], changed["ExpiresAt"]) == (True, True, None)
    assert (changed["Slug"], changed["MaxViews"]) == ("our-lake", 9)
    done = links("rm", made["UID"], "--yes")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "The link our-lake has ended.")
    assert read(links("ls", "--json")) == []
    assert visit(api, made["Token"]) == 404


def test_a_password_is_read_from_standard_input_and_taken_away(api, links):
    made = read(links("add", "Summer", "--password-stdin", "--json", stdin="open sesame\n"))
    assert made["VerifyPassword"] is True
    assert [visit(api, made["Token"]), visit(api, made["Token"], password="open sesame")] == [401, 200]
    read(links("mod", made["UID"], "--password-stdin", "--json", stdin="another one\n"))
    assert visit(api, made["Token"], password="another one") == 200
    assert read(links("mod", made["UID"], "--no-password", "--json"))["VerifyPassword"] is False
    assert visit(api, made["Token"]) == 200


@pytest.mark.parametrize("line", ["", "\n", "\r\n", "  \n", "\nopen sesame\n", "abc\n"])
def test_input_without_a_password_neither_makes_an_open_link_nor_opens_one(api, links, line):
    made = read(links("add", "Summer", "--password-stdin", "--json", stdin="open sesame\n"))
    for arguments in (["add", "Winter", "--password-stdin"], ["mod", made["UID"], "--password-stdin"]):
        done = links(*arguments, stdin=line)
        assert (done.returncode, done.stdout) == (2, "")
        assert ("password of a link has 4" if "abc" in line else "standard input is empty") in done.stderr
    assert [link["UID"] for link in read(links("ls", "--json"))] == [made["UID"]]
    assert visit(api, made["Token"]) == 401


def test_a_link_takes_uploads_for_an_account(api, links):
    refused = links("add", "Summer", "--upload", "--json")
    assert (refused.returncode != 0, "CanUpload: files of visitors count in the quota" in refused.stderr) == (
        True,
        True,
    )
    assert links("add", "Summer", "--upload", "--account", "nobody", "--json").returncode != 0
    viewer = links("add", "Summer", "--upload", "--account", "vera", "--json")
    assert (viewer.returncode != 0, "may not share albums" in viewer.stderr) == (True, True)
    made = read(links("add", "Summer", "--upload", "--account", "alice", "--json"))
    assert made["CanUpload"] is True
    assert read(links("mod", made["UID"], "--no-upload", "--json"))["CanUpload"] is False
    assert read(links("mod", made["UID"], "--upload", "--json"))["CanUpload"] is True
    assert visit(api, made["Token"]) == 200
    plain = read(links("add", "Summer", "--json"))
    assert links("mod", plain["UID"], "--upload").returncode != 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["add", "Autumn"], 3),
        (["add"], 2),
        (["add", "Summer", "--download"], 2),
        (["add", "Summer", "-e", "soon"], 2),
        (["add", "Summer", "--max-views", "-1"], 2),
        (["add", "Summer", "--ask-password"], 2),
        (["mod", "stb7yo0000000000", "--metadata"], 3),
        (["mod", "x", "--no-password", "--ask-password"], 2),
        (["rm", "stb7yo0000000000", "--yes"], 3),
        (["ls", "Autumn"], 3),
    ],
)
def test_wrong_values_are_refused_and_change_nothing(links, arguments, code):
    done = links(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert read(links("ls", "--json")) == []


def test_ending_a_link_asks_first(links):
    made = read(links("add", "Summer", "--json"))
    assert links("rm", made["UID"]).returncode == 2
    assert len(read(links("ls", "--json"))) == 1
