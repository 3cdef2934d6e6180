"""docs/webdav.md names settings that exist and the limits that there are."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from photosvc.dav import copying, dav_request, lock_methods, locks, properties, propfind, xml
from photosvc.library import relocation
from photosvc.settings import PREFIX, Settings

GUIDE = (Path(__file__).parents[3] / "docs/webdav.md").read_text()


def test_every_setting_exists():
    known = {PREFIX + item.name.upper() for item in fields(Settings)}
    assert set(re.findall(r"PHOTOSVC_[A-Z_]+", GUIDE)) <= known


@pytest.mark.parametrize(
    "text",
    [
        f"{locks.MOST_OF_USER} of an account, {locks.MOST_ON_RESOURCE} (shared) of a file, {locks.MOST:,} in all",
        f"`owner` {lock_methods.LONGEST_OWNER} characters",
        f"{properties.MOST_ON_RESOURCE} of a file, {properties.LONGEST_VALUE // 1024} KiB each",
        f"{properties.MOST_OF_USER:,} with {properties.MOST_CHARACTERS_OF_USER >> 20} MiB in all",
        f"{dav_request.LONGEST} characters, {dav_request.MOST_CONDITIONS} conditions",
        f"over {xml.LARGEST // 1024} KiB, {xml.DEEPEST} levels, {xml.MOST_ELEMENTS} elements",
        f"or {xml.MOST_PROPERTIES} properties",
        f"`Depth: infinity` over more than {propfind.MOST:,} files and folders",
        f"COPY of a folder with more than {copying.MOST:,} files and folders",
        f"waits up to {dav_request.PATIENCE:.0f} seconds",
        f"over {propfind._FEW} properties have {propfind.MOST_VALUES:,} values in all",
        f"lists of over {propfind._SHORT:,} files",
        f"for folders of up to {relocation.MOST_FILES} files",
    ],
)
def test_every_limit_is_the_one_there_is(text):
    assert text in GUIDE


def test_locks_last_as_long_as_it_says():
    assert "lasts one hour at most" in GUIDE
    assert lock_methods.LONGEST_TIME == 3600
