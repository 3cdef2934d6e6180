"""docs/indexing.md has the formats that there are."""

from pathlib import Path

from photosvc.media.formats import FORMATS, UNSUPPORTED

GUIDE = (Path(__file__).parents[2] / "docs/indexing.md").read_text()
BEGIN, END = "<!-- formats -->\n", "<!-- end -->"


def table():
    rows = [(" ".join(row.extensions), row.extra, row.note) for row in FORMATS if row.media_type != "sidecar"]
    rows += [(names, "not read", reason) for names, reason in UNSUPPORTED.items()]
    lines = ["| extensions | extra | |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "".join(f"{line}\n" for line in lines)


def test_the_guide_has_the_table_of_formats():
    assert GUIDE.partition(BEGIN)[2].partition(END)[0] == table()
