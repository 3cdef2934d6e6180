"""Folders of the originals and of imports, and months, as lists."""

import pytest

from photosvc.models import Photo
from tests.helpers.api_client import open_api
from tests.helpers.factories.photos import edit_photos
from tests.helpers.pictures import exif, jpeg


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("folders")) as api:
        names = ("top.jpg", "2023/May/a.jpg", "2023/May/b.jpg", "2023/c.jpg", "2024/x/y/d.jpg", "Zoë/secret.jpg")
        for number, name in enumerate(names):
            taken = exif({}, {0x9003: f"202{number // 2}:0{number + 1}:02 03:04:05"})
            api.library.put(name, jpeg(64 + number, 48, exif=taken))
        api.library.index()
        with api.library.session() as session:
            edit_photos(session, [session.query(Photo.id).filter(Photo.name == "secret").scalar()], private=True)
        for name in ("phone/b.jpg", "phone/.hidden", "card.jpg"):
            path = api.library.instance / "import" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"12345")
        (path.parent / "phone/link").symlink_to("/etc")
        yield api


def listed(api, path, status=200, token=None):
    answer = api.call("GET", path, token or api.access_token())
    assert answer.status_code == status, answer.text
    return answer.json


def paths(answer):
    return {folder["Path"]: (folder["PhotoCount"], folder["TotalCount"]) for folder in answer["folders"]}


def test_the_folders_in_a_folder_are_listed_with_their_photos(api):
    top = listed(api, "/folders/originals")
    assert (top["root"], paths(top)) == ("originals", {"2023": (1, 3), "2024": (0, 1)})
    assert top["files"] == []
    may = listed(api, "/folders/originals/2023")["folders"][0]
    assert (may["Path"], may["Title"], may["Root"]) == ("2023/May", "May", "originals")
    assert listed(api, f"/albums/{may['UID']}")["PhotoCount"] == 2
    assert paths(listed(api, "/folders/originals/2024")) == {"2024/x": (0, 1)}
    assert paths(listed(api, "/folders/originals/2024?recursive=true")) == {"2024/x": (0, 1), "2024/x/y": (1, 1)}
    assert paths(listed(api, "/folders/originals/2024/x/y/")) == {}


def test_the_files_of_a_folder_are_those_directly_in_it(api):
    found = listed(api, "/folders/originals/2023/May?files=true")["files"]
    assert [file["Name"] for file in found] == ["2023/May/a.jpg", "2023/May/b.jpg"]
    second = listed(api, "/folders/originals/2023/may?files=1&count=1&offset=1")["files"]
    assert second == found[1:]
    assert [file["Name"] for file in listed(api, "/folders/originals?files=yes")["files"]] == ["top.jpg"]


def test_private_folders_are_seen_only_by_who_sees_private(api):
    listed(api, "/folders/originals/Zo%C3%AB", 404)
    ann = api.app_password("ann")
    assert len(listed(api, "/folders/originals/Zo%C3%AB?files=true", token=ann)["files"]) == 1
    assert "Zoë" in paths(listed(api, "/folders/originals", token=ann))


@pytest.mark.parametrize("path", ["20", "../2023", "2023/May/a.jpg", "x%00", "2023%2F..", "%ff", "/etc"])
def test_other_folders_do_not_exist(api, path):
    listed(api, f"/folders/originals/{path}", 404)


@pytest.mark.parametrize("query", ["files=maybe", "recursive=2", "count=0", "offset=-1"])
def test_wrong_parameters_are_refused(api, query):
    listed(api, f"/folders/originals?{query}", 400)


def test_an_unchanged_list_is_not_sent_again(api):
    token = api.access_token()
    first = api.call("GET", "/folders/originals", token)
    again = api.call("GET", "/folders/originals", token, headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304


def test_the_folder_of_imports_is_listed_as_it_is_on_the_disk(api):
    ann = api.app_password("ann")
    top = listed(api, "/folders/import?files=true", token=ann)
    assert [folder["Path"] for folder in top["folders"]] == ["phone"]
    assert top["files"] == [{"Name": "card.jpg", "Root": "import", "Size": 5}]
    assert [file["Name"] for file in listed(api, "/folders/import/phone?files=1", token=ann)["files"]] == [
        "phone/b.jpg"
    ]
    for path, status in (("..", 400), ("phone/link", 404), ("none", 404), ("x%00", 400)):
        listed(api, f"/folders/import/{path}", status, token=ann)
    listed(api, "/folders/import", 403, token=api.app_password("alice"))


def test_months_are_listed_the_last_one_first(api):
    months = listed(api, "/moments/time")
    assert [(month["Label"], month["PhotoCount"]) for month in months] == [
        ("2022-05", 1), ("2021-04", 1), ("2021-03", 1), ("2020-02", 1), ("2020-01", 1),
    ]  # fmt: skip
    assert len(listed(api, f"/photos?s={months[0]['UID']}")) == 1
