"""docs/indexing.md has the formats, properties and reasons that there are."""

from pathlib import Path

from photosvc.core.problems import Reason, Severity, Validity
from photosvc.media.formats import FORMATS, UNSUPPORTED
from photosvc.media.xmp_fields import FIELDS

GUIDE = (Path(__file__).parents[3] / "docs/indexing.md").read_text()
READ_AGAIN = {
    Validity.UNTIL_CHANGED: "when it changes",
    Validity.UNTIL_SET: "when it or the setting changes",
    Validity.TRANSIENT: "by the next run",
    Validity.SPACED: "after a pause",
    Validity.NOT_STORED: "by the next run",
    Validity.UNTIL_FORCED: "by `svc index --force`",
}


def table(name, headings, rows):
    """What the guide has under a name, and what it should have."""
    lines = [headings, *(f"| {' | '.join(row)} |" for row in rows)]
    return GUIDE.partition(f"<!-- {name} -->\n")[2].partition("<!-- end -->")[0], "".join(f"{one}\n" for one in lines)


def test_the_guide_has_the_table_of_formats():
    extras = {}
    for row in FORMATS:
        if row.media_type != "sidecar":
            extras.setdefault(row.extra, []).extend(row.extensions)
    rows = [(extra, " ".join(names)) for extra, names in extras.items()]
    rows.append(("not read", " ".join(UNSUPPORTED)))
    written, expected = table("formats", "| extra | extensions |\n|---|---|", rows)
    assert written == expected


def test_the_guide_has_the_properties_of_xmp():
    rows = GUIDE.partition("<!-- properties -->\n")[2].partition("<!-- end -->")[0].splitlines()[2:]
    written = [row.rsplit("|", 2)[1].replace("`", "").split() for row in rows]
    assert written == [[*row.properties] for row in FIELDS]


def test_the_guide_has_the_table_of_reasons():
    codes = {}
    for reason in Reason:
        severity = "failed" if reason.severity is Severity.FAILED else "skipped"
        again = "once it is installed" if reason is Reason.MISSING_EXTRA else READ_AGAIN[reason.validity]
        codes.setdefault((severity, again), []).append(f"`{reason}`")
    rows = [(*key, " ".join(names)) for key, names in codes.items()]
    headings = "| the file is | it is read again | codes |\n|---|---|---|"
    written, expected = table("reasons", headings, rows)
    assert written == expected
