"""LOCK and UNLOCK, as clients call them."""

import json
import re
import time
from urllib.parse import quote

import pytest

from tests.app.dav.hostile_dav_client import LOCKINFO, METHODS
from tests.helpers.api_client import open_api
from tests.helpers.dav_client import DavClient

HOUR = 3600
PATCH = b'<propertyupdate xmlns="DAV:"><set><prop><a xmlns="urn:x"/></prop></set></propertyupdate>'


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("dav")) as api:
        shared = DavClient(api)
        shared.ann = DavClient(api, "ann")  # an administrator
        yield shared


@pytest.fixture
def dav(shared, request):
    shared.path = f"/{request.node.name.partition('[')[0]}.jpg"
    shared.call("PUT", shared.path, b"data")
    return shared


def lock(dav, path=None, body=LOCKINFO, *, client=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return (client or dav).call("LOCK", path or dav.path, body, headers=headers)


def token_of(answer):
    assert answer.status_code in {200, 201}, answer.text
    return answer.headers["Lock-Token"]


def seconds_of(answer):
    return int(re.search(r"<D:timeout>Second-(\d+)</D:timeout>", answer.text)[1])


def test_the_answer_describes_the_lock(dav):
    owner = b"<owner><href>Zo\xc3\xab</href></owner></lockinfo>"
    answer = lock(dav, body=LOCKINFO.replace(b"</lockinfo>", owner), Depth="0", Timeout="Second-600")
    token = token_of(answer)
    assert re.fullmatch(r"<opaquelocktoken:[0-9a-f-]{36}>", token)
    assert answer.text == (
        '<?xml version="1.0" encoding="utf-8"?>\n<D:prop xmlns:D="DAV:"><D:lockdiscovery><D:activelock>'
        "<D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:depth>0</D:depth>"
        '<ns0:owner xmlns:ns0="DAV:"><ns0:href>Zo&#235;</ns0:href></ns0:owner><D:timeout>Second-600</D:timeout>'
        f"<D:locktoken><D:href>{token[1:-1]}</D:href></D:locktoken>"
        f"<D:lockroot><D:href>/originals{dav.path}</D:href></D:lockroot>"
        "</D:activelock></D:lockdiscovery></D:prop>\n"
    )


@pytest.mark.parametrize(
    ("wanted", "seconds"),
    [
        (None, HOUR),
        ("Infinite", HOUR),
        ("Second-4100000000", HOUR),
        ("Second-" + "9" * 5000, HOUR),
        ("Second-0", 1),
        ("Extend, second-30, Infinite", 30),
        ("Second-x", HOUR),
    ],
)
def test_no_lock_lasts_longer_than_an_hour(dav, wanted, seconds):
    headers = {} if wanted is None else {"Timeout": wanted}
    answer = lock(dav, quote(f"{dav.path}{wanted}"[:100]), **headers)
    assert (answer.status_code, seconds_of(answer)) == (201, seconds)


def test_a_lock_is_refreshed_by_its_owner_alone(dav):
    token = token_of(lock(dav, Timeout="Second-60"))
    dav.api.clock.move(seconds=59)
    assert lock(dav, body=b"", client=dav.ann, If=f"({token})", Timeout="Second-60").status_code == 403
    refreshed = lock(dav, body=b"", If=f"({token})", Timeout="Second-90")
    assert (refreshed.status_code, seconds_of(refreshed), refreshed.headers.get("Lock-Token")) == (200, 90, None)
    dav.api.clock.move(seconds=89)
    assert dav.ann.call("PUT", dav.path, b"x").status_code == 423
    dav.api.clock.move(seconds=1)
    assert lock(dav, body=b"", If=f"({token})").status_code == 412
    assert dav.ann.call("PUT", dav.path, b"x").status_code == 204


def test_a_lock_of_a_folder_is_refreshed_also_when_the_folder_is_gone_from_the_disk(dav):
    (dav.api.library.originals / "of/vanishing").mkdir(parents=True)
    token = token_of(lock(dav, "/of/vanishing/"))
    (dav.api.library.originals / "of/vanishing").rmdir()
    assert lock(dav, "/of/vanishing/", b"", If=f"({token})").status_code == 200
    assert dav.call("UNLOCK", "/of/vanishing/", headers={"Lock-Token": token}).status_code == 204


@pytest.mark.parametrize("client", ["alice", "ann"])
@pytest.mark.parametrize("path", ["/", "/top", "/top/", "/%74op//"])
def test_all_originals_and_whole_top_folders_are_locked_by_no_account(dav, path, client):
    (dav.api.library.originals / "top/inner").mkdir(parents=True, exist_ok=True)
    client = dav.ann if client == "ann" else dav
    for headers in ({}, {"Depth": "infinity", "Timeout": "Infinite"}):
        answer = lock(dav, path, client=client, **headers)
        assert (answer.status_code, "Depth 0 only" in answer.json["error"]) == (403, True)
    assert dav.call("PUT", "/top/a.jpg", b"x").status_code in {201, 204}
    for allowed, depth in (("/top/inner", "infinity"), (path, "0")):
        token = token_of(lock(dav, allowed, client=client, Depth=depth))
        assert client.call("UNLOCK", allowed, headers={"Lock-Token": token}).status_code == 204


def test_locks_are_listed_and_ended_on_the_command_line(dav):
    def listed():
        return [one for one in json.loads(dav.api.svc("locks", "ls", "--json").stdout) if one["Path"] == dav.path]

    for way in ("Path", "Token"):
        token = token_of(lock(dav, Depth="0"))[1:-1]
        (row,) = listed()
        assert (row["Account"], row["Scope"], row["Depth"], row["Token"]) == ("alice", "exclusive", "0", token)
        assert dav.api.svc("locks", "rm", row[way]).returncode == 2  # it asks
        assert dav.ann.call("PUT", dav.path, b"x").status_code == 423
        assert dav.api.svc("locks", "rm", row[way], "--yes").returncode == 0
        assert (listed(), dav.ann.call("PUT", dav.path, b"x").status_code) == ([], 204)
    assert dav.api.svc("locks", "rm", row["Token"], "--yes").returncode == 3


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 400), ({"If": "(<opaquelocktoken:1>)"}, 412), ({"If": "(Not <a> <b>) (<c>)"}, 412)],
)
def test_a_refresh_names_one_lock_of_the_resource(dav, headers, status):
    assert lock(dav, body=b"", **headers).status_code == status


def test_a_lock_is_released_by_its_owner_and_by_administrators(dav):
    token = token_of(lock(dav, client=dav.ann))
    for client, status in ((dav, 403), (dav.ann, 204)):
        assert client.call("UNLOCK", dav.path, headers={"Lock-Token": token}).status_code == status
    token = token_of(lock(dav))
    assert token[1:-1] in dav.ann.call("PROPFIND", dav.path, headers={"Depth": "0"}).text
    assert dav.ann.call("UNLOCK", dav.path, headers={"Lock-Token": token}).status_code == 204
    assert dav.ann.call("PUT", dav.path, b"x").status_code == 204


def test_only_a_lock_of_the_resource_is_released(dav):
    token = token_of(lock(dav))
    assert dav.call("UNLOCK", "/", headers={"Lock-Token": token}).status_code == 409
    for wrong, status in (("<opaquelocktoken:1>", 409), ("<>", 400), ("x", 409)):
        assert dav.call("UNLOCK", dav.path, headers={"Lock-Token": wrong}).status_code == status, wrong
    assert dav.call("UNLOCK", dav.path).status_code == 400
    assert dav.ann.call("PUT", dav.path, b"x").status_code == 423


@pytest.mark.parametrize(
    "body",
    [
        b"<lockinfo/>",
        b'<lockinfo xmlns="DAV:"><lockscope/><locktype><write/></locktype></lockinfo>',
        b'<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope></lockinfo>',
        b'<lockinfo xmlns="DAV:"><lockscope><exclusive/><shared/></lockscope><locktype><write/></locktype></lockinfo>',
        b'<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><read/></locktype></lockinfo>',
    ],
)
def test_a_body_that_asks_for_no_write_lock_is_refused(dav, body):
    assert lock(dav, "/nothing.jpg", body).status_code == 400
    assert not (dav.api.library.originals / "nothing.jpg").exists()


def test_long_descriptions_and_addresses_and_other_depths_are_refused(dav):
    owner = b"<owner>" + b"x" * 4090 + b"</owner></lockinfo>"
    assert lock(dav, body=LOCKINFO.replace(b"</lockinfo>", owner)).status_code == 413
    assert lock(dav, Depth="1").status_code == 400
    assert lock(dav, "/" + "%F0%9F%98%80" * 63 + "/x").status_code == 409
    folder = ("/" + "%F0%9F%98%80" * 60) * 3
    (dav.api.library.originals / ("/".join(["😀" * 60] * 3))).mkdir(parents=True)
    assert lock(dav, folder).status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize("name", ["%20", "%20a", "a%20", "...", "a.", "CON", "%5C", "a:b", "%F0%9F%98%80"])
def test_a_new_name_of_any_form_is_locked(dav, name):
    token = token_of(answer := lock(dav, f"/{name}"))
    assert answer.status_code == 201
    assert dav.call("PUT", f"/{name}", b"x", headers={"If": f"({token})"}).status_code == 204


@pytest.mark.slow
def test_two_that_lock_one_new_name_leave_the_file_of_the_one_that_got_it(dav):
    """The one that is refused removes nothing."""
    token = token_of(lock(dav, "/both.jpg"))
    assert lock(dav, "/both.jpg", client=dav.ann).status_code == 423
    assert (dav.api.library.originals / "both.jpg").read_bytes() == b""
    assert dav.call("PUT", "/both.jpg", b"x", headers={"If": f"({token})"}).status_code == 204


@pytest.mark.parametrize("method", sorted({"PUT", "DELETE", "PROPPATCH", "MOVE", "LOCK"} & set(METHODS)))
def test_a_refusal_names_the_lock_and_the_condition(dav, method):
    lock(dav)
    body = {"PROPPATCH": PATCH, "LOCK": LOCKINFO, "PUT": b"x"}.get(method, b"")
    answer = dav.call(method, dav.path, body, headers={"Destination": "/originals/other.jpg"})
    condition = "no-conflicting-lock" if method == "LOCK" else "lock-token-submitted"
    assert answer.status_code == 423
    assert f":{condition}>" in answer.text
    assert f":href>/originals{dav.path}</" in answer.text


def test_many_conditions_on_a_deep_address_take_no_time(dav):
    began = time.process_time()
    answer = lock(dav, "/a" * 3900, If="(<a>)" * 100)
    assert answer.status_code == 412
    assert time.process_time() - began < 0.5


@pytest.mark.slow
def test_a_lock_holds_for_addresses_that_are_too_long_to_be_locked(dav):
    (dav.api.library.originals / "/".join(["a", "deep"] + ["😀" * 60] * 3)).mkdir(parents=True)
    token = token_of(lock(dav, "/a/deep/"))
    target = "/a/deep" + ("/" + "%F0%9F%98%80" * 60) * 3 + "/new.jpg"
    assert dav.ann.call("PUT", target, b"x").status_code == 423
    shown = {"If": f"<http://localhost/originals/a/deep/> ({token})"}
    assert dav.call("PUT", target, b"x", headers=shown).status_code == 201
