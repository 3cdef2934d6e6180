"""`svc shares`: albums that are shared with accounts."""

import json

import pytest

from tests.helpers.api_client import open_api


@pytest.fixture
def shares(tmp_path):
    with open_api(tmp_path) as api:
        token = api.app_password()
        for title, values in (("Summer", {}), ("Winter", {}), ("Smart", {"Filter": "year:2024"})):
            assert api.call("POST", "/albums", token, json={"Title": title, **values}).status_code == 200
        yield lambda *arguments, **options: api.svc("shares", *arguments, **options)


def read(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_album_is_shared_listed_changed_and_shared_no_longer(shares):
    made = read(shares("add", "sUMMER", "vera", "--json"))
    assert (made["Name"], made["Role"], made["CreatedBy"]) == ("vera", "viewer", "")
    assert read(shares("mod", "Summer", made["AccountUID"], "--role", "contributor", "--json"))["Role"] == "contributor"
    assert [one["Name"] for one in read(shares("ls", "Summer", "--json"))] == ["vera"]
    assert read(shares("ls", "Winter", "--json")) == []
    done = shares("rm", "Summer", "vera", "--yes")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "The album is shared with vera no longer.")
    assert read(shares("ls", "--json")) == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["add", "Nowhere", "vera"], 3),
        (["add", "Summer", "nobody"], 3),
        (["add", "Smart", "vera", "--role", "contributor"], 1),
        (["add", "Summer", "vera", "--role", "owner"], 2),
        (["mod", "Summer", "vera", "--role", "viewer"], 3),
        (["rm", "Summer", "vera", "--yes"], 3),
    ],
)
def test_wrong_values_are_refused_and_share_nothing(shares, arguments, code):
    assert shares(*arguments).returncode == code
    assert read(shares("ls", "--json")) == []
