"""docs/webdav.md names settings that exist and the limits that there are."""

import re
from dataclasses import fields
from pathlib import Path

from photosvc.dav import lock_methods, move_copy, propfind
from photosvc.library import originals
from photosvc.settings import PREFIX, Settings

GUIDE = (Path(__file__).parents[3] / "docs/webdav.md").read_text()


def test_every_setting_exists():
    known = {PREFIX + item.name.upper() for item in fields(Settings)}
    assert set(re.findall(r"PHOTOSVC_[A-Z_]+", GUIDE)) <= known


def test_every_limit_is_the_one_there_is():
    assert move_copy.MOST == propfind.MOST
    assert f"folders of more than {move_copy.MOST:,} files" in GUIDE
    assert f"for folders of up to {originals.MOST_FILES} files" in GUIDE
    assert "lasts one hour at most" in GUIDE
    assert lock_methods.LONGEST_TIME == 3600
