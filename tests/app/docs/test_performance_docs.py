"""docs/performance.md is one page whose figures are in bench/RESULTS.md, with commands that exist."""

import re
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/performance.md").read_text()
RESULTS = (ROOT / "bench/RESULTS.md").read_text()
FIGURES = re.findall(r"^\| (.+) \| (.*\d.*) \| (`.+`) \|$", GUIDE.partition("## Figures\n")[2], re.MULTILINE)


def numbers(text):
    return set(re.findall(r"\d[\d.,]*\d|\d", text))


def test_it_is_one_page_with_a_dozen_figures():
    assert len(GUIDE.splitlines()) <= 80
    assert len(FIGURES) >= 12


def test_every_figure_is_among_the_results():
    assert [figure for _, figure, _ in FIGURES if numbers(figure) - numbers(RESULTS)] == []


def test_every_benchmark_that_is_named_exists():
    modules = set(re.findall(r"python -m (bench[\w.]*\w)", GUIDE + RESULTS))
    assert len(modules) > 5
    assert sorted(name for name in modules if find_spec(name) is None) == []


def test_every_section_of_the_results_says_when_it_was_recorded():
    sections = re.split(r"^##+ ", RESULTS, flags=re.MULTILINE)[1:]
    missing = [section.partition("\n")[0] for section in sections if "\n\nRecorded: " not in section]
    assert missing == []
    dated = re.findall(r"202\d-\d\d-\d\d, `[0-9a-f]{8}`", RESULTS)
    assert len(dated) >= len(sections)
