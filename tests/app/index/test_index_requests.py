"""Requests to index folders."""

import os

import pytest

from photosvc.core.errors import InvalidValueError
from photosvc.index import requests
from photosvc.index.requests import IndexRequest, enqueue, runs_for, waiting
from tests.helpers.clock import NOW


def stored(session):
    return [(one.folder, one.force) for one in waiting(session)]


def test_equal_wishes_are_one_and_force_outlasts_a_wish_without(session):
    enqueue(session, NOW, "b/c")
    enqueue(session, NOW)
    enqueue(session, NOW, "b/c/", force=True)
    enqueue(session, NOW, "./b//c")
    assert stored(session) == [("", False), ("b/c", True)]


def test_a_folder_whose_name_no_disk_can_have_is_looked_for_above(tmp_path):
    (tmp_path / "2024").mkdir()
    forced = [
        IndexRequest("2024/" + "x" * 300),
        IndexRequest("y" * 300 + "/z"),
        IndexRequest("2024/" + "日" * 100, force=True),
    ]
    assert runs_for(tmp_path, (), forced[:1]) == [IndexRequest("2024")]
    assert runs_for(tmp_path, (), forced) == [IndexRequest("2024", force=True), IndexRequest("")]


def test_names_that_are_not_utf_8_are_stored_as_the_library_writes_them(session):
    enqueue(session, NOW, os.fsdecode(b"caf\xe9"))
    assert stored(session) == [("%FFcaf%E9", False)]


def test_too_many_folders_become_a_wish_for_everything(session, monkeypatch):
    monkeypatch.setattr(requests, "MOST_WAITING", 3)
    for number in range(9):
        enqueue(session, NOW, f"f{number}")
    assert stored(session) == [("", False), ("f0", False), ("f1", False), ("f2", False)]
    enqueue(session, NOW, "f1", force=True)
    assert ("f1", True) in stored(session)


def test_a_wish_outside_of_the_originals_or_for_a_path_that_scans_leave_out_is_refused(session):
    outside = dict.fromkeys(["/etc", "../x", "a/../b", "a\x00b"], "relative to the originals")
    long = dict.fromkeys(["a/" * 513, "日" * 342, "\U0001f4f7" * 257, "\udcff" * 512], "at most 1024 bytes")
    for folder, message in (outside | long).items():
        with pytest.raises(InvalidValueError, match=message):
            enqueue(session, NOW, folder)
    assert stored(session) == []
