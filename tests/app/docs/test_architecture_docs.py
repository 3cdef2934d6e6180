"""docs/architecture.md names files that exist and every package; journeys begin with files that run on them."""

import re
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/architecture.md").read_text()


def _section(heading):
    return GUIDE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def _paths(text):
    """Everything in backticks that is the path of a file or folder."""
    return set(re.findall(r"`([\w./-]+(?:\.(?:py|cfg|toml|md|lock|sqlite)|/))`", text))


def _exists(path):
    return (ROOT / path).exists() or (ROOT / "photosvc" / path).exists()


def test_every_file_and_folder_it_names_exists():
    assert len(_paths(GUIDE)) > 50
    assert sorted(path for path in _paths(GUIDE) if not _exists(path)) == []


def test_every_package_is_named():
    packages = {f"{path.parent.relative_to(ROOT / 'photosvc')}/" for path in (ROOT / "photosvc").rglob("__init__.py")}
    assert sorted(packages - _paths(_section("Layers")) - {"./", "models/migrations/versions/"}) == []


def test_the_layers_are_those_of_the_import_contract():
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    layers = re.findall(r"\w+", setup["importlinter:contract:layers"]["layers"])
    cells = re.findall(r"^\| (`.+?) \|", _section("Layers"), re.MULTILINE)
    named = [re.match(r"\w+", path)[0] for cell in cells for path in re.findall(r"`(.+?)`", cell)]
    assert named == [name for name in layers if _exists(f"{name}.py") or _exists(f"{name}/")]
