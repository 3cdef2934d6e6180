"""PROPFIND and PROPPATCH: what clients see of files and folders, and what they may store beside them."""

import os
import resource
import shutil
from itertools import count, islice
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from photosvc.dav import properties, propfind, request
from photosvc.models import DavProperty
from photosvc.web.admission_gate import Cost
from tests.app.dav.dav_client import DavClient
from tests.helpers.api_client import open_api

LIVE = {"resourcetype", "displayname", "creationdate", "getlastmodified", "lockdiscovery", "supportedlock"}
OF_FILES = LIVE | {"getcontentlength", "getcontenttype", "getetag"}
TAKEN = 1_600_000_000
NAMES = ["a b.jpg", "100%25.jpg", "<&>'\".jpg", "Über 日本.jpg", "(1)!$*,.jpg", "a;b=c?d#e.jpg", "\ufffe.jpg"]


class Dav(DavClient):
    """Requests and what they answer about each resource."""

    def ask(self, method, path="", body=b"", *, status=207, **headers):
        answer = self.call(method, f"/{path}", body, headers=headers)
        assert answer.status_code == status, answer.text
        return answer

    def find(self, path="", body=b"", depth="0"):
        """Address -> name of each property found -> its element, and the names of those missing."""
        found = responses(self.ask("PROPFIND", path, body, Depth=depth))
        assert {status for one in found.values() for status, _ in one.values()} <= {200, 404}
        return {
            href: (
                {name: element for name, (status, element) in one.items() if status == 200},
                {name for name, (status, _) in one.items() if status == 404},
            )
            for href, one in found.items()
        }

    def properties(self, path, body=b""):
        """The properties of one resource."""
        (found,) = self.find(path, body).values()
        return found

    def patch(self, path, changes):
        """Name of each property -> its status."""
        body = f'<D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x" xml:lang="de">{changes}</D:propertyupdate>'
        (found,) = responses(self.ask("PROPPATCH", path, body.encode())).values()
        return {name: status for name, (status, _) in found.items()}


def responses(answer):
    """Address -> name of each property -> its status and element."""
    return {
        response.findtext("{DAV:}href"): {
            one.tag.removeprefix("{DAV:}"): (int(propstat.findtext("{DAV:}status").split()[1]), one)
            for propstat in response.iterfind("{DAV:}propstat")
            for one in propstat.find("{DAV:}prop")
        }
        for response in ET.fromstring(answer.data)
    }


def asking(names):
    return f'<propfind xmlns="DAV:" xmlns:x="urn:x"><prop>{names}</prop></propfind>'.encode()


@pytest.fixture(scope="module")
def dav(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("listings")) as api:
        for number, name in enumerate(NAMES):
            api.library.put(f"names/{name}", b"x" * number)
        api.library.put("tree/a/b/c.jpg", b"c")
        api.library.put("tree/d.unknown", b"dd")
        os.utime(api.library.put("one.jpg", b"one"), (TAKEN, TAKEN))
        yield Dav(api)


@pytest.fixture(autouse=True)
def _nothing_stored(dav):
    with dav.api.library.session() as session:
        session.query(DavProperty).delete()


def test_a_file_has_the_live_properties_of_files_and_a_folder_those_of_folders_and_a_slash(dav):
    ((href, (found, missing)),) = dav.find("one.jpg").items()
    assert (href, set(found), missing) == ("/originals/one.jpg", OF_FILES, set())
    assert found["getcontentlength"].text == "3"
    assert found["getcontenttype"].text == "image/jpeg"
    assert found["getlastmodified"].text == "Sun, 13 Sep 2020 12:26:40 GMT"
    assert found["creationdate"].text == "2020-09-13T12:26:40Z"
    assert found["displayname"].text == "one.jpg"
    assert len(found["resourcetype"]) == 0
    assert found["getetag"].text == dav.ask("HEAD", "one.jpg", status=200).headers["ETag"]
    scopes = [entry.find("{DAV:}lockscope")[0].tag for entry in found["supportedlock"]]
    assert scopes == ["{DAV:}exclusive", "{DAV:}shared"]

    for path in ("tree", "tree/"):
        ((href, (found, missing)),) = dav.find(path).items()
        assert (href, set(found), missing) == ("/originals/tree/", LIVE, set())
        assert [kind.tag for kind in found["resourcetype"]] == ["{DAV:}collection"]


def test_depth_says_how_far_a_listing_goes(dav):
    assert set(dav.find("tree", depth="0")) == {"/originals/tree/"}
    near = {"/originals/tree/", "/originals/tree/a/", "/originals/tree/d.unknown"}
    assert set(dav.find("tree", depth="1")) == near
    everything = near | {"/originals/tree/a/b/", "/originals/tree/a/b/c.jpg"}
    assert set(dav.find("tree", depth="infinity")) == everything
    assert set(dav.find("tree", depth="Infinity")) == everything
    assert set(responses(dav.ask("PROPFIND", "tree"))) == everything
    assert set(dav.find("tree/d.unknown", depth="1")) == {"/originals/tree/d.unknown"}
    dav.ask("PROPFIND", "tree", Depth="2", status=400)
    dav.ask("PROPFIND", "none", status=404)


def test_too_large_a_tree_is_refused(dav, monkeypatch):
    monkeypatch.setattr(propfind, "MOST", 5)
    assert len(dav.find("tree", depth="infinity")) == 5
    refused = dav.ask("PROPFIND", "", status=403, Depth="infinity")
    assert "propfind-finite-depth" in refused.text


@pytest.mark.parametrize(("most", "listed"), [(10_000, (207, 121)), (60, (403, 0))], ids=["listed", "refused"])
def test_a_wide_tree_takes_few_descriptors_and_leaves_none_open(dav, monkeypatch, most, listed):
    for number in range(60):
        (dav.api.library.originals / f"wide/{number}/inner").mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(propfind, "MOST", most)
    dav.ask("PROPFIND", Depth="0")
    before = {int(one.name) for one in Path("/proc/self/fd").iterdir()}
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    thirty_free = next(islice((number for number in count() if number not in before), 30, None))
    resource.setrlimit(resource.RLIMIT_NOFILE, (thirty_free, hard))
    try:
        answer = dav.call("PROPFIND", "/wide", headers={"Depth": "infinity"})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        shutil.rmtree(dav.api.library.originals / "wide")
    assert (answer.status_code, answer.data.count(b"<D:href>")) == listed
    assert len(list(Path("/proc/self/fd").iterdir())) == len(before)


def test_addresses_lead_back_to_files_of_every_name(dav):
    listed = dav.find("names", depth="1")
    assert len(listed) == len(NAMES) + 1
    sizes = {}
    for href, (found, _) in listed.items():
        if not href.endswith("/names/"):
            sizes[found["displayname"].text] = int(found["getcontentlength"].text)
            assert set(dav.find(href.removeprefix("/originals/"))) == {href}
    assert sizes == {name.replace("\ufffe", "\ufffd"): number for number, name in enumerate(NAMES)}


def test_properties_are_asked_for_by_name_without_values_or_beside_all(dav):
    dav.patch("one.jpg", "<D:set><D:prop><x:a>1</x:a><x:c/></D:prop></D:set>")
    body = asking("<getetag/><quota/><x:a/><x:b/><getetag/><z xmlns=''/>")
    found, missing = dav.properties("one.jpg", body)
    assert (set(found), missing) == ({"getetag", "{urn:x}a"}, {"quota", "{urn:x}b", "z"})
    found, missing = dav.properties("tree", body)
    assert (set(found), missing) == (set(), {"getetag", "quota", "{urn:x}a", "{urn:x}b", "z"})
    own = OF_FILES | {"{urn:x}a", "{urn:x}c"}
    found, missing = dav.properties("one.jpg", b'<propfind xmlns="DAV:"><propname/></propfind>')
    assert (set(found), missing, {(len(one), one.text) for one in found.values()}) == (own, set(), {(0, None)})
    body = b'<propfind xmlns="DAV:"><allprop/><include><quota/><a xmlns="urn:x"/></include></propfind>'
    found, missing = dav.properties("one.jpg", body)
    assert (set(found), missing) == (own, {"quota"})
    assert dav.ask("PROPFIND", "one.jpg", body, Depth="0").text.count("urn:x") == 2


def test_a_request_asks_for_one_kind_and_one_for_no_property_has_an_empty_answer(dav):
    for body in ("", "<other/>", "<prop/><allprop/>", "<allprop/><propname/>"):
        dav.ask("PROPFIND", "one.jpg", f'<propfind xmlns="DAV:">{body}</propfind>'.encode(), status=400)
    assert dav.find("one.jpg", asking("")) == {"/originals/one.jpg": ({}, set())}


def test_properties_of_a_listing_are_those_of_each_file(dav):
    for path, value in (("tree", 1), ("tree/a", 2), ("tree/a/b", 3), ("tree/a/b/c.jpg", 4), ("one.jpg", 5)):
        dav.patch(path, f"<D:set><D:prop><x:a>{value}</x:a></D:prop></D:set>")

    def values(path, depth, body=b""):
        listed = dav.find(path, body, depth)
        return {href: found["{urn:x}a"].text for href, (found, _) in listed.items() if "{urn:x}a" in found}

    tree = {"/originals/tree/": "1", "/originals/tree/a/": "2", "/originals/tree/a/b/": "3"}
    for body in (b"", asking("<x:a/>")):
        assert values("tree", "0", body) == {"/originals/tree/": "1"}
        assert values("tree", "1", body) == {"/originals/tree/": "1", "/originals/tree/a/": "2"}
        assert values("tree", "infinity", body) == tree | {"/originals/tree/a/b/c.jpg": "4"}
        assert values("", "1", body) == {"/originals/tree/": "1", "/originals/one.jpg": "5"}


def test_a_property_keeps_its_content_and_language(dav):
    changes = "<D:set><D:prop><x:a>Zoë<b>&amp;</b>tail</x:a><x:c xml:lang='en'/></D:prop></D:set>"
    assert dav.patch("one.jpg", changes) == {"{urn:x}a": 200, "{urn:x}c": 200}
    found = dav.properties("one.jpg")[0]
    assert ET.tostring(found["{urn:x}a"], encoding="unicode", method="text") == "Zoë&tail"
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    assert [found[name].get(language) for name in ("{urn:x}a", "{urn:x}c")] == ["de", "en"]


def test_changes_of_a_request_are_made_in_their_order_and_all_or_none(dav, monkeypatch):
    changes = """<D:set><D:prop><x:a>1</x:a><x:b>1</x:b></D:prop></D:set><D:remove><D:prop><x:a/></D:prop></D:remove>
    <D:set><D:prop><x:b>2</x:b></D:prop></D:set><D:other/>"""
    assert dav.patch("one.jpg", changes) == {"{urn:x}a": 200, "{urn:x}b": 200}
    found, _ = dav.properties("one.jpg")
    assert {name: one.text for name, one in found.items() if name not in OF_FILES} == {"{urn:x}b": "2"}
    dav.patch("one.jpg", "<D:remove><D:prop><x:b/></D:prop></D:remove>")
    protected = "<D:set><D:prop><x:a>1</x:a><D:getetag>2</D:getetag></D:prop></D:set>"
    assert dav.patch("one.jpg", protected) == {"{urn:x}a": 424, "getetag": 403}
    monkeypatch.setattr(properties, "MOST_ON_RESOURCE", 1)
    many = "<D:set><D:prop><x:a>1</x:a><x:b>2</x:b></D:prop></D:set>"
    assert dav.patch("one.jpg", many) == {"{urn:x}a": 507, "{urn:x}b": 507}
    assert set(dav.properties("one.jpg")[0]) == OF_FILES


def test_programs_set_the_time_of_a_file_by_their_own_properties(dav):
    windows = "<w:Win32LastModifiedTime xmlns:w='urn:schemas-microsoft-com:'>%s</w:Win32LastModifiedTime>"
    other = "<D:lastmodified>%s</D:lastmodified>"
    for name, value, status, seconds in (
        (windows, "Mon, 14 Sep 2020 12:26:40 GMT", 200, TAKEN + 86_400), (other, "1700000000", 200, 1_700_000_000),
        (other, "1" * 30, 409, TAKEN), (other, "yesterday", 409, TAKEN),
    ):  # fmt: skip
        file = dav.api.library.put("touched.jpg", b"x")
        os.utime(file, (TAKEN, TAKEN))
        (found,) = set(dav.patch("touched.jpg", f"<D:set><D:prop>{name % value}</D:prop></D:set>").values())
        assert (found, file.stat().st_mtime) == (status, seconds), value
        assert set(dav.properties("touched.jpg")[0]) == OF_FILES, value


def test_a_body_that_is_no_change_is_refused(dav):
    for body in (b"", b'<D:propfind xmlns:D="DAV:"/>', b"<a>", b"<!DOCTYPE a><a/>"):
        dav.ask("PROPPATCH", "one.jpg", body, status=400)
    dav.ask("PROPPATCH", "one.jpg", b" " * 65_537, status=413)
    dav.ask("PROPPATCH", "none.jpg", b"", status=404)


NAMED = b'<D:propfind xmlns:D="DAV:" xmlns:x="urn:x"><D:prop>%s</D:prop></D:propfind>'


def test_many_properties_of_too_many_files_are_refused_by_number(dav, monkeypatch):
    many = NAMED % b"".join(b"<x:a%d/>" % number for number in range(100))
    monkeypatch.setattr(propfind, "MOST_VALUES", 100 * (len(NAMES) + 1))
    found = dav.find("names/", many, depth="1")
    assert {len(missing) for _, missing in found.values()} == {100}
    monkeypatch.setattr(propfind, "MOST_VALUES", 100 * (len(NAMES) + 1) - 1)
    for depth in ("1", "infinity"):
        refused = dav.ask("PROPFIND", "names/", many, status=507, Depth=depth)
        assert ET.fromstring(refused.data)[0].tag == f"{{DAV:}}{propfind.TOO_MANY_VALUES}"
    few = NAMED % b"".join(b"<x:a%d/>" % number for number in range(40))
    assert len(dav.find("names/", few, depth="1")) == len(NAMES) + 1


def test_a_long_list_takes_a_place_of_large_answers(dav, monkeypatch):
    monkeypatch.setattr(propfind, "_SHORT", 3)
    service = dav.api.library.app.extensions["photosvc"]
    places = service.gate.places[Cost.TRANSFER]
    taken = [places.take(f"somebody {number}") for number in range(service.settings.transfers)]
    assert places.are_all_taken
    dav.api.library.clock.step = 0.5  # each look at the clock
    refused = dav.ask("PROPFIND", "names/", status=503, Depth="1")
    dav.api.library.clock.step = 0
    assert refused.headers["Retry-After"] == "10"
    assert len(dav.find("tree/", depth="1")) == 3
    for free in taken:
        free()
    assert len(dav.find("names/", depth="1")) == len(NAMES) + 1


def test_a_large_file_waits_for_a_place(dav):
    service, clock = dav.api.library.app.extensions["photosvc"], dav.api.library.clock
    body, places = b"x" * 70_000, service.gate.places[Cost.RECEIVE]
    taken = [places.take("somebody else") for _ in range(service.settings.uploads)]
    began, clock.step = clock.seconds, 0.5  # each look at the clock
    assert dav.ask("PUT", "new.jpg", body, status=503).headers["Retry-After"] == "5"
    clock.step = 0
    assert request.PATIENCE <= clock.seconds - began < 3 * request.PATIENCE
    for free in taken:
        free()
    dav.ask("PUT", "new.jpg", body, status=201)
    dav.ask("DELETE", "new.jpg", status=204)
