"""The figures of docs/performance.md stand in the tables of bench/RESULTS.md that they name."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
FIGURES = re.findall(
    r"^\| (.+) \| (.*\d.*) \| (\w+) \|$",
    (ROOT / "docs/performance.md").read_text().partition("## Figures\n")[2],
    re.MULTILINE,
)
TABLES = dict(
    re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", (ROOT / "bench/RESULTS.md").read_text(), re.DOTALL | re.MULTILINE)
)


def numbers(text):
    return set(re.findall(r"\d[\d.,]*\d|\d", text))


def test_every_figure_is_in_the_table_that_its_row_names():
    assert len(FIGURES) >= 12
    missing = {what: numbers(figure) - numbers(TABLES[table]) for what, figure, table in FIGURES}
    assert {what: sorted(found) for what, found in missing.items() if found} == {}


def test_every_table_names_its_date_its_commit_and_a_command_that_exists():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name, table in TABLES.items():
        assert re.search(r"^Recorded: 202\d-\d\d-\d\d, `[0-9a-f]{8}`", table, re.MULTILINE), name
        (command,) = re.findall(r"^`make ([\w-]+)", table, re.MULTILINE)
        assert command in targets, name
