"""Strategies of queries: some that match photos of the varied library, odd, hostile and large ones."""

from hypothesis import strategies as st

from photosvc.query.filters import FILTERS, NAMES, ValueKind
from tests.databases.search.varied_library import uid

#: Values of filters of each kind, most of which match photos of the varied library.
VALUES = {
    ValueKind.TEXT: (
        "lake*",
        "*lake*",
        "*%*",
        "img_*",
        '"Lake at dawn"',
        "image|raw",
        "!video",
        "*a*e*",
        "jpeg",
        "xmp*",
        "bavaria",
        "suva|*4",
        "1/250",
    ),
    ValueKind.PROSE: (
        "lake",
        '"at dawn"',
        "false",
        "true",
        '""',
        "*lake*",
        "lake*",
        "!snow",
        "dawn|100",
        "!true",
        "a|false",
        '"Lake at dawn"',
        "!*a*",
        "%",
        "lakes",
    ),
    ValueKind.COUNT: ("1", "yes", "no", "0-1", ">1", "0", "!2", "new", "!new"),
    ValueKind.ABSENT: ("x", "!x", "yes"),
    ValueKind.PATH: ("2020/*", "/", '"2020/Lake"', "*/lake*", "!2020*", "misc/bar", "*.jpg"),
    ValueKind.NAME: (
        '"Jane Doe"',
        "zoe",
        "jane-doe",
        "ja*",
        "*o*",
        "Summer-2020",
        "!jane",
        uid("a", 0),
        uid("a", 2),
        uid("a", 5),
        "winter",
        "!secret*",
        "loop",
        uid("j", 1),
    ),
    ValueKind.WORDS: (
        "jane",
        "lake",
        "sun",
        '"new york"',
        "ja&oh",
        "!beach",
        "bar|lake",
        "x",
        "o'hara",
        "secret|sum",
        "wilma",
        "winter|broken",
        "bavaria",
    ),
    ValueKind.ID_OR_WORDS: ("canon", "eos", "1", "2|3", "!nikon", '"50mm f1"', "elm", "d-750", "unknown", "leica"),
    ValueKind.UID: (uid("p", 3), uid("f", 70), f"{20:040x}", f"!{uid('p', 4)}", f"{uid('p', 1)}|{uid('f', 50)}"),
    ValueKind.PHOTO: (uid("p", 3), uid("p", 8), f"!{uid('p', 4)}", f"{uid('p', 1)}|{uid('p', 2)}"),
    ValueKind.WHOLE_WORDS: ("lake", "sun*", '"new york"', "beach|x", "!lakes", "beaches", "bar&lake"),
    ValueKind.EXTENSION: ("jpg", "dng", "!jpg", ".JPG|dng", "png"),
    ValueKind.STATE: ("favorite", "!raw", "geo|video", "title", "!description", "album", "private", "archived"),
    ValueKind.COUNTRY: ("de", "fj|zz", "!zz", "germany", '"Fiji"', "uk"),
    ValueKind.COLOR: ("black", "red|blue", "!grey", "gray"),
    ValueKind.TYPE: ("raw", "image|video", "!live", "r*", "animated"),
    ValueKind.INTEGER: ("3", "100-400", "-400", "12-", "!24", "0", ">24", "0..100", "<=400", "!<400"),
    ValueKind.SIGNED: ("-10", "0-600", "*-0", "519", "<5", "-20..600", "!*-600", "0"),
    ValueKind.BYTES: ("1000", ">1001", "1kb-2mb", "1kib", "<1002|1003", "!1..1002"),
    ValueKind.CALENDAR: ("2020", "-1", "1-6", "31", "2019|2020", "!2020", ">5", "2019..2020", "<=2019"),
    ValueKind.MONTH: ("january", "-1", "1-6", "dec|2", "!jan", ">jan", "nov..december"),
    ValueKind.WEEKDAY: ("monday", "6-7", "sat|sun", "!fri", ">3"),
    ValueKind.AT_LEAST: ("3", "1-3", "4", "<4", ">=4"),
    ValueKind.CHROMA: ("5", "10", "0-40", ">5"),
    ValueKind.DECIMAL: ("1.8", "1.8-2.8", "-2", "<2.8", ">=1.8", "1.8..2", "0-2"),
    ValueKind.FLAG: ("true", "false"),
    ValueKind.SWITCH: ("true", "false"),
    ValueKind.TAKEN: (
        "2020",
        "2020-01",
        "2020-01-03",
        "2019-2020",
        "!2020-01-02",
        ">2020-01-03",
        "<=2020-01-03",
        "2020-01-02..2020-01-05",
    ),
    ValueKind.BEFORE: ("2020-01-04", "2019", "2020-01"),
    ValueKind.AFTER: ("2020-01-04", "2020", "2021"),
    ValueKind.SINCE: (
        "2020-01-10",
        "2020-01-20T10:00:00Z",
        "1960",
        ">2020-01",
        ">=2020-01-10",
        ">2020-01-20T22:00:00Z",
    ),
    ValueKind.LATITUDE: ("0", "48.1", "-17.8", "90"),
    ValueKind.LONGITUDE: ("0", "11.5", "180", "-180"),
    ValueKind.DISTANCE: ("1", "3", "500", "15000", "20038"),
    ValueKind.NEAR: (uid("p", 2), uid("p", 9), f"!{uid('p', 5)}", "munich", '"Munich, Germany"', f"suva|{uid('p', 2)}"),
    ValueKind.BOX: ("49,12,47,11", "-17,-179,-18,179", "0,0@5", "90,180,-90,-180", "89,10@300"),
    ValueKind.CELL: ("479", "479e", "6e1", "479e@50"),
    ValueKind.PLUS_CODE: ("8FWH4GX2+", "8FWH0000+@100"),
}
TERMS = ("lake", "LAKE", "snow", "la", "x", '"lake at"', '"the old lak*"', "strasse", "ELAN", "東京", "50", "nikon",
         "bav", "mun", "dawn*", "sun-set", "sunset", "orig", "note", "jane", '"jane doe"', "%", "_",
         "lakes", "sunsets", "beaches", "🎉", "한강", "raw", "videos", "NOT lake", "the lake", "of", "f/1.8",
         "2019..2020", "*sun*", "photos", "blue", "january 2020", "2020", "weekends", "at night", "summer 2020",
         "not lake", "no snow", "iphone11", "a7iii", "85mm", "eos5d", "l'lake", "muenchen", "m\u00fcnchen", "portrait",
         "since 2020", "1/250", "in album win", "near munich", "black and white", "5 stars",
         "without people")  # fmt: skip

FILTER_TEXTS = st.sampled_from(sorted(FILTERS)).flatmap(
    lambda name: st.sampled_from(VALUES[FILTERS[name].kind]).map(lambda value: f"{name}:{value}")
)
PLACES = st.sampled_from(
    ("lat:0 lng:0 dist:5", "lat:-17.8 lng:180 dist:3", "lat:90 lng:0 dist:200", "lat:48.1 lng:11.5")
)
ATOMS = st.one_of(
    st.sampled_from(TERMS), FILTER_TEXTS.filter(lambda text: not text.startswith(("lat:", "lng:"))), PLACES
)
QUERIES = st.recursive(
    ATOMS,
    lambda parts: st.one_of(
        st.lists(parts, min_size=2, max_size=3).map(" ".join),
        st.lists(parts, min_size=2, max_size=3).map(lambda found: "(" + " | ".join(found) + ")"),
        parts.map(lambda part: f"-({part})"),
    ),
    max_leaves=5,
)

#: Any text, rich in what the grammar or Unicode makes something of.
HOSTILE = st.text(
    alphabet=st.one_of(
        st.sampled_from('ab1 *|&!-()":\\/.@,%\u00e9\u0130\ufb01\uff0a\uff02\u6771\u3099\u200d\u1680\u00a8\x00\u202e'),
        st.characters(),
    ),
    max_size=40,
)

UID = "pqbcf5j446s0futy"

#: What values look like, right, wrong and strange.
ODD_VALUES = st.one_of(
    st.sampled_from((
        "true", "no", "red", "red|!blue", "100-400", "-5", "*-5", "--5", "5-", "-100--50", "0", "-1", "2.8", ".5",
        "2023", "2023-05", "2023-05-01", "2020-2022", "-2020", "9999", "9999-12-31", "2024-05-26T10:30:00Z", "de",
        "zz", "1,2", "1,2@3", "4,3,2,1", "0,0", "48.123456789012345", "4799e370ca54", "1@5", "8FWCHX7W+",
        "8FWCHX7W+22@.25", ">5", "<=5", "2..3", "<0.5", "<1", "-0", "jul-aug", "1.5mb", ">2kib", "..2020-05", ">9999",
        "and", "or*", "a&b|c", "!a", "-a", "*", "/", "//", "//a", "2023/*", "/a/", "canon", "5d",
        "1234567890", "jane-doe", UID, f"{UID}@5", '"new york*"', '"Jane Doe & John Doe"', r'"say \"hi\" \| \* \\"',
    )),
    HOSTILE.map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'),
    HOSTILE,
)  # fmt: skip

#: Words that mean a filter in one order or another, and none in most.
_SPOKEN = st.lists(
    st.sampled_from((
        "june", "14", "2019", "may", "last", "summer", "days", "3", "ago", "iso", "100", "not", "no", "without", "near",
        "berlin", "in", "album", "black", "and", "white", "christmas", "the", "80s", "galaxy", "s21", "before", "from",
        "to", "iphone11", "m\u00fcnchen", "muenchen", "l'\u00e9t\u00e9", "stars", "5", "85mm", "videos",
        '"new york"', "-",
    )),
    max_size=6,
).map(" ".join)  # fmt: skip
_ODD_TERMS = st.one_of(
    _SPOKEN,
    st.builds("{}:{}".format, st.sampled_from(sorted(NAMES)), ODD_VALUES),
    st.sampled_from(["a", "abc", "ab*", "and", "or", '"a b"', '"abc*"', "IMG_12", "\u6771\u4eac", "x:", "-", "*"]),
    HOSTILE,
)

#: What the grammar makes of them.
ODD_QUERIES = st.recursive(
    _ODD_TERMS,
    lambda inner: st.one_of(
        st.builds("{} {}".format, inner, inner),
        st.builds("{} | {}".format, inner, inner),
        st.builds("({})".format, inner),
        st.builds("-{}".format, inner),
        st.builds("-({} {})".format, inner, inner),
    ),
    max_leaves=8,
)

#: Anything but large ones, which take long.
ANY_QUERIES = st.one_of(QUERIES, ODD_QUERIES, HOSTILE, st.text('ab1-!|&()":* \\near:titl,.@', max_size=60))


def _nested(layers, query):
    """The query inside these layers, each a group with another operator, some of them negated."""
    for opening, closing in layers:
        query = opening + query + closing
    return query


_LAYERS = st.sampled_from((
    ("-(", ")"), ("-(a ", ")"), ("-(a|", ")"), ("(a ", ")"), ("(a|", ")"), ("(", "|-b)"), ("(", " -b)"),
    ("-(-(", "))"), ("(color:red|", ")"), ("-(iso:100-400 ", " name:*a*)"), ("(-year:2020|", ")"),
))  # fmt: skip

#: Groups in groups up to the depth that queries may have, and beyond; patterns of many pieces and values; signs that
#: grow when they are folded; quotes that nothing closes.
NESTED_QUERIES = st.one_of(
    st.builds(_nested, st.lists(_LAYERS, min_size=1, max_size=9), QUERIES),
    st.builds(_nested, st.lists(_LAYERS, min_size=1, max_size=9), QUERIES),
    st.builds(_nested, st.lists(_LAYERS, min_size=1, max_size=24), st.one_of(QUERIES, ODD_QUERIES)),
)
GROWING_QUERIES = st.one_of(
    st.builds(
        lambda name, piece, pieces, join, values: f"{name}:" + join.join(["*".join([piece] * pieces)] * values),
        st.sampled_from(("title", "name", "path", "filename", "camera", "keywords", "description", "city")),
        st.sampled_from(("a", "\ufdfa", "\u00df", "\u0130", "%", "_", "?", '"x')),
        st.integers(1, 40),
        st.sampled_from(("|", "&", "|!")),
        st.integers(1, 60),
    ).map(lambda text: text[:4100]),
    st.builds(
        lambda sign, times: sign * times,
        st.sampled_from(('"', '"a ', '-"', 'title:"', "\\", "\ufdfa ")),
        st.integers(1, 4200),
    ),
    st.builds(lambda sign, times: sign * times, st.sampled_from(("\ufdfa", "\u00df", "\ufb01")), st.integers(1, 1400)),
)

#: As deep and as long as queries may be, and a little more.
LARGE_QUERIES = st.one_of(
    st.builds(
        lambda opening, depth, query: opening * depth + query + ")" * depth,
        st.sampled_from(("(", "-(", "a|(", "a (")),
        st.integers(50, 66),
        st.one_of(QUERIES, ODD_QUERIES),
    ),
    st.builds(
        lambda query, sign, times: sign.join([query] * times)[:4100],
        st.one_of(QUERIES, ODD_QUERIES),
        st.sampled_from((" ", "|", " -", " | -", " & ")),
        st.integers(10, 300),
    ),
    NESTED_QUERIES,
    GROWING_QUERIES,
)
