"""LOCK and UNLOCK, as clients call them."""

import json
import re
from urllib.parse import quote

import pytest

from tests.app.dav.dav_client import LOCKINFO, PATCH

HOUR = 3600
END = b"</lockinfo>"


@pytest.fixture
def dav(shared, request):
    shared.path = f"/{request.node.name.partition('[')[0]}.jpg"
    shared.call("PUT", shared.path, b"data")
    return shared


def lock(dav, path=None, body=LOCKINFO, *, client=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return (client or dav).call("LOCK", path or dav.path, body, headers=headers)


def unlock(client, path, token):
    return client.call("UNLOCK", path, headers={"Lock-Token": token}).status_code


def token_of(answer):
    assert answer.status_code in {200, 201}, answer.text
    return answer.headers["Lock-Token"]


def seconds_of(answer):
    return int(re.search(r"<D:timeout>Second-(\d+)</D:timeout>", answer.text)[1])


def test_the_answer_describes_the_lock(dav):
    owner = b"<owner><href>Zo\xc3\xab</href></owner>"
    answer = lock(dav, body=LOCKINFO.replace(END, owner + END), Depth="0", Timeout="Second-600")
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


def test_no_lock_lasts_longer_than_an_hour(dav):
    for wanted, seconds in (
        (None, HOUR), ("Infinite", HOUR), ("Second-4100000000", HOUR), ("Second-" + "9" * 5000, HOUR), ("Second-0", 1),
        ("Extend, second-30, Infinite", 30), ("Second-x", HOUR),
    ):  # fmt: skip
        answer = lock(dav, quote(f"{dav.path}{wanted}"[:100]), **({} if wanted is None else {"Timeout": wanted}))
        assert (answer.status_code, seconds_of(answer)) == (201, seconds), wanted


def test_a_lock_is_refreshed_by_its_owner_alone(dav):
    token = token_of(lock(dav, Timeout="Second-60"))
    dav.api.clock.move(seconds=59)
    assert lock(dav, body=b"", client=dav.ann, If=f"({token})", Timeout="Second-60").status_code == 403
    refreshed = lock(dav, body=b"", If=f"({token})", Timeout="Second-90")
    assert (refreshed.status_code, seconds_of(refreshed), refreshed.headers.get("Lock-Token")) == (200, 90, None)
    for wrong, status in (({}, 400), ({"If": "(<opaquelocktoken:1>)"}, 412), ({"If": "(Not <a> <b>) (<c>)"}, 412)):
        assert lock(dav, body=b"", **wrong).status_code == status, wrong
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
    assert unlock(dav, "/of/vanishing/", token) == 204


def test_all_originals_and_whole_top_folders_are_locked_by_no_account(dav):
    (dav.api.library.originals / "top/inner").mkdir(parents=True)
    for client in (dav, dav.ann):
        for path in ("/", "/top", "/top/", "/%74op//"):
            for headers in ({}, {"Depth": "infinity", "Timeout": "Infinite"}):
                answer = lock(dav, path, client=client, **headers)
                assert (answer.status_code, "Depth 0 only" in answer.json["error"]) == (403, True), path
            assert dav.call("PUT", "/top/a.jpg", b"x").status_code in {201, 204}
            for allowed, depth in (("/top/inner", "infinity"), (path, "0")):
                assert unlock(client, allowed, token_of(lock(dav, allowed, client=client, Depth=depth))) == 204


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


def test_a_lock_of_the_resource_is_released_by_its_owner_and_by_administrators(dav):
    token = token_of(lock(dav, client=dav.ann))
    assert [unlock(client, dav.path, token) for client in (dav, dav.ann)] == [403, 204]
    token = token_of(lock(dav))
    assert token[1:-1] in dav.ann.call("PROPFIND", dav.path, headers={"Depth": "0"}).text
    assert unlock(dav, "/", token) == 409
    assert [unlock(dav, dav.path, wrong) for wrong in ("<opaquelocktoken:1>", "<>", "x")] == [409, 400, 409]
    assert dav.call("UNLOCK", dav.path).status_code == 400
    assert dav.ann.call("PUT", dav.path, b"x").status_code == 423
    assert unlock(dav.ann, dav.path, token) == 204
    assert dav.ann.call("PUT", dav.path, b"x").status_code == 204


def test_a_body_that_asks_for_no_write_lock_is_refused(dav):
    head, write = b'<lockinfo xmlns="DAV:">', b"<locktype><write/></locktype></lockinfo>"
    for body in (
        b"<lockinfo/>",
        head + b"<lockscope/>" + write,
        head + b"<lockscope><exclusive/></lockscope></lockinfo>",
        head + b"<lockscope><exclusive/><shared/></lockscope>" + write,
        head + b"<lockscope><exclusive/></lockscope><locktype><read/></locktype></lockinfo>",
    ):
        assert lock(dav, "/nothing.jpg", body).status_code == 400, body
        assert not (dav.api.library.originals / "nothing.jpg").exists(), body


def test_long_descriptions_and_addresses_and_other_depths_are_refused(dav):
    owner = b"<owner>" + b"x" * 4090 + b"</owner>"
    assert lock(dav, body=LOCKINFO.replace(END, owner + END)).status_code == 413
    assert lock(dav, Depth="1").status_code == 400
    assert lock(dav, "/" + "%F0%9F%98%80" * 63 + "/x").status_code == 409
    folder = ("/" + "%F0%9F%98%80" * 60) * 3
    (dav.api.library.originals / ("/".join(["😀" * 60] * 3))).mkdir(parents=True)
    assert lock(dav, folder).status_code == 403


def test_a_new_name_of_any_form_is_locked_by_one(dav):
    for name in ("%20", "%20a", "a%20", "...", "a.", "CON", "%5C", "a:b", "%F0%9F%98%80"):
        answer = lock(dav, f"/{name}")
        assert answer.status_code == 201, name
        assert lock(dav, f"/{name}", client=dav.ann).status_code == 423, name  # and it removes nothing
        assert dav.call("GET", f"/{name}").data == b"", name
        shown = {"If": f"({token_of(answer)})"}
        assert dav.call("PUT", f"/{name}", b"x", headers=shown).status_code == 204, name


def test_a_refusal_names_the_lock_and_the_condition(dav):
    lock(dav)
    for method, body in {"PUT": b"x", "DELETE": b"", "PROPPATCH": PATCH, "MOVE": b"", "LOCK": LOCKINFO}.items():
        answer = dav.call(method, dav.path, body, headers={"Destination": "/originals/other.jpg"})
        condition = "no-conflicting-lock" if method == "LOCK" else "lock-token-submitted"
        assert answer.status_code == 423, method
        assert f":{condition}>" in answer.text, method
        assert f":href>/originals{dav.path}</" in answer.text, method


def test_many_conditions_on_a_deep_address_take_few_statements(dav):
    with dav.api.library.statements() as statements:
        assert lock(dav, "/a" * 3900, If="(<a>)" * 100).status_code == 412
    assert len(statements) < 20


def test_a_lock_holds_for_addresses_that_are_too_long_to_be_locked(dav):
    (dav.api.library.originals / "/".join(["a", "deep"] + ["😀" * 60] * 3)).mkdir(parents=True)
    token = token_of(lock(dav, "/a/deep/"))
    target = "/a/deep" + ("/" + "%F0%9F%98%80" * 60) * 3 + "/new.jpg"
    assert dav.ann.call("PUT", target, b"x").status_code == 423
    shown = {"If": f"<http://localhost/originals/a/deep/> ({token})"}
    assert dav.call("PUT", target, b"x", headers=shown).status_code == 201
