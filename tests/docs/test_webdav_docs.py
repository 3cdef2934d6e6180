"""docs/webdav.md names settings that exist and the limits that there are."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from photosvc.dav.files import copying, slots
from photosvc.dav.locking import if_header, locks, methods
from photosvc.dav.properties import propfind, stored, xml_body
from photosvc.library.files import relocation
from photosvc.settings import PREFIX, Settings

GUIDE = (Path(__file__).parents[2] / "docs/webdav.md").read_text()
DAY = 24 * 3600


def test_every_setting_exists():
    known = {PREFIX + item.name.upper() for item in fields(Settings)}
    assert set(re.findall(r"PHOTOSVC_[A-Z_]+", GUIDE)) <= known


@pytest.mark.parametrize(
    "text",
    [
        f"{locks.MOST_OF_USER} of an account, {locks.MOST_ON_RESOURCE} (shared) of a file, {locks.MOST:,} in all",
        f"`owner` {methods.LONGEST_OWNER} characters",
        f"{stored.MOST_ON_RESOURCE} of a file, {stored.LONGEST_VALUE // 1024} KiB each",
        f"{stored.MOST_OF_USER:,} with {stored.MOST_CHARACTERS_OF_USER >> 20} MiB in all",
        f"{if_header.LONGEST} characters, {if_header.MOST_CONDITIONS} conditions",
        f"over {xml_body.LARGEST // 1024} KiB, {xml_body.DEEPEST} levels, {xml_body.MOST_ELEMENTS} elements",
        f"or {xml_body.MOST_PROPERTIES} properties",
        f"`Depth: infinity` over more than {propfind.MOST:,} files and folders",
        f"COPY of a folder with more than {copying.MOST:,} files and folders",
        f"waits up to {slots.PATIENCE:.0f} seconds",
        f"for folders of up to {relocation.MOST_FILES} files",
    ],
)
def test_every_limit_is_the_one_there_is(text):
    assert text in GUIDE


def test_locks_last_as_long_as_it_says():
    assert "lasts one week" in GUIDE
    assert "four weeks at most" in GUIDE
    assert (methods.USUAL, methods.LONGEST_TIME) == (7 * DAY, 28 * DAY)
