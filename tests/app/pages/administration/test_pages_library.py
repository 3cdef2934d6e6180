"""Administration > Library, Look-alikes and Statistics in a browser without scripts."""

import html
import re
from datetime import timedelta

import pytest
from sqlalchemy import select

from photosvc.library.job_runner import JobRunner
from photosvc.models import Photo
from photosvc.pages.wording import day
from photosvc.web.admission_gate import Cost
from photosvc.web.indexer import Indexer
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import look_at_once
from tests.app.pages.browser import OWN, Browser, text_of
from tests.helpers.pictures import clouds, encoded, exif, jpeg

LIBRARY = "/administration/library"
FAILURES, TRASH = f"{LIBRARY}/failures", f"{LIBRARY}/trash"
ALIKE, STATISTICS = "/administration/look-alikes", "/administration/statistics"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def ann(api, monkeypatch):
    """A browser in which the administrator is signed in; no indexer is started."""
    for page in ("library", "look_alikes"):
        monkeypatch.setattr(f"photosvc.pages.administration.{page}.wake_indexer", lambda _: Indexer.STARTED)
    browser = Browser(api)
    assert browser.sign_in("ann").status_code == 303
    return browser


def shown(ann, path):
    answer = ann.open(path, headers=OWN)
    assert answer.status_code == 200, answer.text
    return answer


def followed(ann, path, form):
    answer = ann.send(path, form)
    assert answer.status_code == 303, answer.text
    return shown(ann, answer.headers["Location"])


def put_camera(api, name, year, camera, number):
    taken = exif({0x010F: "Canon", 0x0110: camera}, {0x9003: f"{year}:05:01 10:00:00"})
    api.library.put(name, jpeg(80, 60, exif=taken) + bytes([number]))


def test_an_index_run_is_asked_for_told_and_stopped(ann, api):
    api.library.put("2024/May/a.jpg", jpeg(30, 20))
    api.library.index()
    page = shown(ann, LIBRARY)
    assert "1 photo in 1 file. Indexed just now" in text_of(page)
    assert "All originals 1 new Done" in text_of(page)
    assert '<option value="2024/May">' in page.text
    asked = followed(ann, f"{LIBRARY}/index", {"folder": "2024/May/", "again": "1"})
    assert "The index run starts in a moment." in text_of(asked)
    assert "Waiting to begin with 2024/May ." in text_of(asked)
    stopped = followed(ann, f"{LIBRARY}/index/stop", {})
    assert "The index run is stopping." in text_of(stopped)
    assert "Waiting" not in text_of(stopped)
    assert "No index run was active." in text_of(followed(ann, f"{LIBRARY}/index/stop", {}))


def test_what_is_no_folder_of_the_originals_is_not_indexed(ann):
    for folder in ("../..", "/etc", "nowhere", "a" * 900, "2024\x00", HOSTILE):
        answer = ann.send(f"{LIBRARY}/index", {"folder": folder})
        assert (answer.status_code, 'aria-invalid="true"' in answer.text) == (400, True), folder
    assert "Waiting to begin" not in text_of(shown(ann, LIBRARY))


def test_files_that_failed_are_listed_found_and_lead_to_their_photos(ann, api):
    api.library.put(f"2024/{HOSTILE}.jpg", jpeg(90, 60)[:400])
    api.library.put("empty.jpg", b"")
    api.library.index()
    page = shown(ann, FAILURES)
    assert "the file is empty" in text_of(page)
    assert HOSTILE in html.unescape(page.text)
    assert "<img src=x" not in page.text
    assert text_of(shown(ann, f"{FAILURES}?q=EMPTY")).count("the file is empty") == 1
    assert "No failed file has a matching name." in text_of(shown(ann, f"{FAILURES}?q=none"))
    assert shown(ann, f"{FAILURES}?page=x&q=%00").status_code == 200
    assert "is cleared" in text_of(followed(ann, f"{FAILURES}/forget", {}))


def test_the_trash_is_listed_restored_and_emptied_with_a_question(ann, api):
    for number in (1, 2, 3):
        api.library.put(f"2024/{number}.jpg", jpeg(30 + number, 20))
    api.library.index()
    assert "The trash is empty." in text_of(shown(ann, TRASH))
    assert "The trash is empty." in text_of(shown(ann, f"{TRASH}/empty"))
    assert 'name="expected"' not in shown(ann, f"{TRASH}/empty").text
    trash(api, "2024/1.jpg", "2024/2.jpg", "2024/3.jpg")
    page = shown(ann, TRASH)
    assert "3 files," in text_of(page)
    assert text_of(page).count(f"kept until {day(api.clock() + timedelta(days=30))}") == 3
    items = re.findall(r'name="item" value="([^"]*)"', page.text)
    assert "File restored" in text_of(followed(ann, f"{TRASH}/restore", {"item": items[0]}))
    assert ann.send(f"{TRASH}/restore", {"item": items[0]}).status_code == 404
    for wrong in ("../../x", "2024/1.jpg", "", "%00", items[1].partition("/")[0]):
        assert ann.send(f"{TRASH}/restore", {"item": wrong}).status_code == 404
    asked = shown(ann, f"{TRASH}/empty")
    assert "2 files, " in text_of(asked)
    assert 'name="expected" value="2"' in asked.text
    for wrong in ("3", "", "-1", "x"):
        refused = ann.send(f"{TRASH}/empty", {"expected": wrong})
        assert (refused.status_code, "Nothing was deleted: there are 2 files" in text_of(refused)) == (409, True)
    assert "The trash is empty." in text_of(followed(ann, f"{TRASH}/empty", {"expected": "2"}))
    assert len(list(api.library.originals.rglob("*.jpg"))) == 1


def test_a_trash_of_many_files_is_emptied_by_their_number(ann, api, monkeypatch):
    for number in (1, 2, 3):
        api.library.put(f"2024/{number}.jpg", jpeg(30 + number, 20))
    api.library.index()
    trash(api, "2024/1.jpg", "2024/2.jpg", "2024/3.jpg")
    monkeypatch.setattr("photosvc.library.failures._MOST_COUNTED", 2)
    asked = shown(ann, f"{TRASH}/empty")
    assert re.search(r"3 files, over [\d.]+ kB, are deleted permanently", text_of(asked))
    assert "The trash is empty." in text_of(followed(ann, f"{TRASH}/empty", {"expected": "3"}))


def test_the_trash_is_not_emptied_while_its_administrator_changes_many_photos(ann, api):
    api.library.put("2024/1.jpg", jpeg(30, 20))
    api.library.index()
    trash(api, "2024/1.jpg")
    with api.library.app.app_context():
        free = current_service().gate.take(Cost.BATCH, api.uids["ann"])
    try:
        refused = ann.send(f"{TRASH}/empty", {"expected": "1"})
    finally:
        free()
    assert (refused.status_code, "You are changing many photos already" in text_of(refused)) == (429, True)
    assert "The trash is empty." in text_of(followed(ann, f"{TRASH}/empty", {"expected": "1"}))


def trash(api, *names):
    """Delete originals with their photos."""
    with api.library.session() as session:
        uids = session.scalars(select(Photo.uid)).all()
    answer = api.call("POST", "/batch/photos/delete", api.app_password("ann"), json={"photos": uids})
    assert answer.json["photos"] == len(names)


def alike(api):
    """Three sizes of one picture; their UIDs, the best first."""
    for width in (60, 120, 240):
        picture = clouds(1, 240, 180).resize((width, width * 3 // 4))
        api.library.put(f"{width}.jpg", encoded(picture, "JPEG"))
    api.library.index()
    with api.library.session() as session:
        return [session.scalar(select(Photo.uid).where(Photo.name == name)) for name in ("240", "120", "60")]


def look(ann, api):
    asked = text_of(followed(ann, f"{ALIKE}/look", {}))
    assert "The search is running." in asked
    assert "Search again" in asked  # its process may have been killed
    with api.library.session() as session:
        engine = session.get_bind()
    assert look_at_once(engine, api.clock)
    return shown(ann, ALIKE)


def test_look_alikes_are_found_and_the_worse_archived_and_brought_back(ann, api):
    uids = alike(api)
    assert "The library has not been searched for look-alikes yet." in text_of(shown(ann, ALIKE))
    page = look(ann, api)
    assert "1 group, as of just now" in text_of(page)
    marks = re.findall(r'name="photo-(\w+)" value="1" (checked)?', page.text)
    assert marks == [(uids[0], ""), (uids[1], "checked"), (uids[2], "checked")]
    assert "240 × 180" in text_of(page)
    done = followed(ann, f"{ALIKE}/archive", {f"photo-{uid}": "1" for uid in uids[1:]})
    assert "2 photos are archived. Undo" in text_of(done)
    assert "No photos look alike." in text_of(done)
    assert {photo["UID"] for photo in api.library.find(count=9)} == {uids[0]}
    back = dict.fromkeys(re.findall(r'name="(photo-\w+)"', done.text), "1")
    restored = followed(ann, f"{ALIKE}/restore", back)
    assert "Photos restored from the archive. " in text_of(restored)
    assert "1 group, as of" in text_of(restored)


def test_what_is_not_the_same_is_not_shown_again_until_that_is_taken_back(ann, api):
    uids = alike(api)
    look(ann, api)
    apart = followed(ann, f"{ALIKE}/apart", {"group": " ".join(uids)})
    assert "This group is not shown again. Undo" in text_of(apart)
    assert "No photos look alike." in text_of(apart)
    number = re.search(r'name="set" value="(\d+)"', apart.text)[1]
    assert "1 group, as of" in text_of(followed(ann, f"{ALIKE}/together", {"set": number}))
    ann.send(f"{ALIKE}/apart", {"group": " ".join(uids)})
    assert "No photos look alike." in text_of(look(ann, api))


def test_forms_that_name_no_photos_change_nothing_and_other_addresses_are_pages(ann):
    for path, form in (
        ("archive", {}),
        ("archive", {"photo-" + HOSTILE: "1"}),
        ("restore", {}),
        ("apart", {"group": "a b"}),
    ):
        answer = ann.send(f"{ALIKE}/{path}", form)
        assert (answer.status_code, 'role="alert"' in answer.text) == (400, True), (path, form)
    for query in ("after=-1", "after=99999999999", "apart=x", "archived=a+b", "done=%00"):
        assert shown(ann, f"{ALIKE}?{query}").status_code == 200, query


def test_statistics_are_bars_that_lead_to_their_photos(ann, api):
    for number, (year, camera) in enumerate([(2021, "EOS 5D"), (2023, "EOS 5D"), (2023, "R5")]):
        put_camera(api, f"{number}.jpg", year, camera, number)
    api.library.put("undated.png", encoded(clouds(3, 30, 20), "PNG"))
    api.library.index()
    page = shown(ann, STATISTICS)
    assert "4 photos in 4 files" in text_of(page)
    for label, found in (("2021: 1 photo", 1), ("2023: 2 photos", 2)):
        address = html.unescape(re.search(rf'<a href="([^"]*)" aria-label="{label}">', page.text)[1])
        assert number_found(ann, address) == found
    assert "2022:" not in page.text
    for name, found in (("Canon EOS 5D", 2), ("Canon R5", 1), ("Pictures", 4)):
        address = html.unescape(re.search(rf'<th scope="row" dir="auto"><a href="([^"]*)">{name}</a>', page.text)[1])
        assert number_found(ann, address) == found
    assert "style=" not in page.text


def number_found(ann, address):
    return int(re.search(r"(\d+) photos?\b", text_of(shown(ann, address)).partition("Order")[2])[1])


def test_pages_of_an_empty_library_say_so(ann):
    assert "Never indexed." in text_of(shown(ann, LIBRARY))
    assert "There are no photos yet." in text_of(shown(ann, STATISTICS))
    assert "No file failed." in text_of(shown(ann, FAILURES))


def test_thumbnails_are_asked_for_beforehand_and_their_progress_is_told(ann, api):
    api.library.put("a.jpg", jpeg(300, 200))
    api.library.index()
    page = shown(ann, LIBRARY)
    assert "Thumbnails are made when they are first looked at." in text_of(page)
    asked = followed(ann, f"{LIBRARY}/thumbnails", {})
    assert "The thumbnails are made in the background." in text_of(asked)
    assert "The thumbnails are made after the index run." in text_of(asked)
    assert "Make all thumbnails" not in text_of(asked)
    with api.library.app.app_context():
        runner = JobRunner(current_service().engine(), current_service().settings, api.clock)
    while runner.step():
        continue
    assert "All made just now : 4 new thumbnails." in text_of(shown(ann, LIBRARY))


def test_labels_from_pictures_are_turned_on_and_off(ann, api):
    api.library.put("a.jpg", jpeg(64, 48))
    api.library.index()
    begun = followed(ann, f"{LIBRARY}/labels", {"on": "1"})
    assert "Labels are looked for in the background." in text_of(begun)
    assert "0 of 1 pictures are looked at." in text_of(begun)
    assert api.svc("sight", "run").stdout == "1 looked at, 0 failed\n"
    assert "All pictures are looked at." in text_of(shown(ann, LIBRARY))
    ended = followed(ann, f"{LIBRARY}/labels", {})
    assert "No labels are looked for. Those that were found stay." in text_of(ended)


def test_the_first_page_after_the_first_account_offers_thumbnails_to_administrators(ann, api):
    page = shown(ann, "/?welcome=1")
    assert f'action="{LIBRARY}/thumbnails"' in page.text
    assert f'action="{LIBRARY}/thumbnails"' not in shown(ann, "/").text
    alice = Browser(api)
    alice.sign_in("alice")
    assert f'action="{LIBRARY}/thumbnails"' not in alice.open("/?welcome=1", headers=OWN).text


def test_the_figures_of_a_run_agree_in_number_in_other_languages(ann, api):
    api.library.put("letter.txt", b"a letter")
    api.library.put("1.jpg", jpeg(80, 60))
    api.library.index()
    page = ann.open("/administration/library", headers={**OWN, "Accept-Language": "fr"})
    assert "1 nouveau, 1 ignoré" in text_of(page)
