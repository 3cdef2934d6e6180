"""Scripts of the pages: what is vendored is what was published, and what a page loads stays small."""

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

import photosvc.pages
from photosvc.pages.photos import BY_TIME, IN_ORDER

ASSETS = Path(photosvc.pages.__file__).with_name("assets")
VENDORED = json.loads((ASSETS / "vendor/VENDORED.json").read_text())
IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*"(\.[^"]+\.js)"(\))?""")
KB = 1000
#: Dialogs, panels and lists that no page and no viewer loads before somebody opens them, each with what it imports;
#: and what videos, and albums of one's own, load under the pointer.
ASKED_FOR = {
    "about.js", "albums.js", "arranging.js", "converting.js", "dialog.js", "editing.js", "filters.js", "help.js",
    "moving.js", "panel.js", "sharing.js", "slideshow.js", "transfer.js", "trash.js", "uploads.js",
}  # fmt: skip


def loaded(name, *, lazily, asked_for=False):
    """The scripts that one script imports, itself too.

    Args:
        name: the script.
        lazily: also those that it imports later.
        asked_for: of these, also those of `ASKED_FOR`.

    """
    found, waiting = set(), [ASSETS / name]
    while waiting:
        path = waiting.pop().resolve()
        if path not in found:
            found.add(path)
            wanted = IMPORT.findall(path.read_text())
            waiting += [
                path.parent / other
                for other, later in wanted
                if not later or (lazily and (asked_for or Path(other).name not in ASKED_FOR))
            ]
    return found


def packed(paths):
    """Bytes on the wire, each file compressed by itself."""
    return sum(len(gzip.compress(path.read_bytes(), 9)) for path in paths)


@pytest.mark.parametrize("library", VENDORED)
def test_vendored_files_are_those_of_the_published_version(library):
    about = VENDORED[library]
    assert about["version"] in about["source"]
    assert {"license", "integrity"} <= set(about)
    for name, file in about["files"].items():
        content = (ASSETS / "vendor" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == file["sha256"], name


def test_no_file_is_vendored_unseen():
    there = {
        path.relative_to(ASSETS / "vendor").as_posix() for path in (ASSETS / "vendor").rglob("*") if path.is_file()
    }
    assert there - {"VENDORED.json"} == {name for about in VENDORED.values() for name in about["files"]}


def at_once(kind):
    """The scripts of a grid by time or in another order that are loaded at once."""
    names = ("grid/main.js", f"grid/{kind}.js", "grid/tools.js", "grid/library.js", "page.js")
    return set.union(*(loaded(name, lazily=False) for name in names))


@pytest.mark.parametrize(("kind", "other"), [("timeline", "sequence"), ("sequence", "timeline")])
def test_the_grid_is_at_most_45_kb_of_scripts_and_with_the_viewer_70(kind, other):
    grid = at_once(kind)
    assert not any("vendor" in path.parts for path in grid)
    assert packed(grid) <= 45 * KB
    whole = grid | loaded("grid/main.js", lazily=True) - {(ASSETS / f"grid/{other}.js").resolve()}
    assert any(path.name == "photoswipe.js" for path in whole)
    assert packed(whole) <= 70 * KB


@pytest.mark.parametrize("name", sorted(ASKED_FOR))
def test_what_is_loaded_when_somebody_asks_for_it_is_at_most_12_kb(name):
    before = loaded("grid/main.js", lazily=True) | loaded("page.js", lazily=False)
    assert (ASSETS / "grid" / name).resolve() not in before
    assert packed(loaded(f"grid/{name}", lazily=True, asked_for=True) - before) <= 12 * KB


@pytest.mark.parametrize(("kind", "scripts"), [("timeline", BY_TIME), ("sequence", IN_ORDER)])
def test_the_page_names_every_script_of_the_grid_that_it_loads_at_once(kind, scripts):
    named = [ASSETS / name for name in scripts]
    assert set(named) == at_once(kind) - loaded("page.js", lazily=False)
    first = loaded("grid/main.js", lazily=False) | loaded(f"grid/{kind}.js", lazily=False)
    assert set(named[: named.index(ASSETS / "grid/tools.js")]) == first


def test_the_map_is_at_most_75_kb_of_scripts():
    own = loaded("places/main.js", lazily=True) | loaded("page.js", lazily=False)
    assert packed([*own, ASSETS / "vendor/leaflet/leaflet.js"]) <= 75 * KB
    assert packed([ASSETS / "vendor/world-atlas/world.svg"]) <= 150 * KB


def test_scripts_evaluate_no_text_and_write_no_markup():
    for path in (path for path in ASSETS.rglob("*.js") if "vendor" not in path.parts):
        text = path.read_text()
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert forbidden not in text, (path.name, forbidden)
        assert 'setAttribute("style"' not in text, path.name
        assert not re.search(r"https?://(?!www\.w3\.org)", text), path.name


def test_templates_take_nothing_as_html_but_qr_codes():
    texts = "".join(path.read_text() for path in ASSETS.with_name("templates").rglob("*.html"))
    assert sorted(re.findall(r"[\w.]+ \| safe", texts)) == ["enrolment.qr_svg | safe", "qr | safe"]
    assert not re.search(r"autoescape|Markup", texts)
