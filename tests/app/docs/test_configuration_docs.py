"""docs/configuration.md lists exactly the settings that the service reads."""

import re
from pathlib import Path

from photosvc.settings import load_settings, setting_fields

GUIDE = (Path(__file__).parents[3] / "docs/configuration.md").read_text()


def _rows():
    """Name -> (meaning, values, default) of the guide's tables."""
    table = re.findall(r"^\| `PHOTOSVC_(\w+)` \| (.+) \| (.+) \| (.+) \|$", GUIDE, re.MULTILINE)
    return {name: tuple(cells) for name, *cells in table}


def test_each_setting_has_one_row_in_a_table_of_its_subject():
    named = re.findall(r"^\| `PHOTOSVC_(\w+)` \|", GUIDE, re.MULTILINE)
    assert sorted(named) == sorted(["INSTANCE", *map(str.upper, setting_fields())])
    section = GUIDE.partition("\n## The settings\n")[2].partition("\n## ")[0]
    subjects = re.findall(r"^### (.+)\n\n\| setting \|.*\n\|---.*\n((?:\|.*\n)+)", section, re.MULTILINE)
    assert sum(rows.count("\n") for _, rows in subjects) == len(named)
    assert [subject for subject, rows in subjects if rows.count("\n") < 2] == []


def test_each_row_has_the_meaning_and_the_values_with_their_unit():
    for name, data in setting_fields().items():
        meaning, values, _ = _rows()[name.upper()]
        assert (meaning, values) == (data["meaning"], data["values"]), name


def test_each_row_has_the_default_of_a_service_without_configuration(tmp_path):
    settings = load_settings(tmp_path)
    for name in setting_fields():
        value = str(getattr(settings, name)).removeprefix("sqlite:///")
        if name == "secret_key":
            expected = "`secret_key` in the instance folder, made on first use"
        elif name == "timezone":
            expected = "that of the machine"
        elif value.startswith(f"{tmp_path}/"):
            expected = f"`{Path(value).relative_to(tmp_path)}` in the instance folder"
        else:
            expected = f"`{value}`"
        assert _rows()[name.upper()][2] == expected, name
