"""The header `If`: which texts are lists of conditions."""

import pytest

from photosvc.dav.if_header import Condition, ConditionList, IfHeaderError, parse_if


def token(value, *, wanted=True):
    return Condition(wanted, False, value)


def tag(value, *, wanted=True):
    return Condition(wanted, True, value)


LISTS = {
    "(<a>)": [ConditionList("", (token("a"),))],
    ' ( <a>  ["e"] ) ': [ConditionList("", (token("a"), tag("e")))],
    "(<a>)(Not <b>)": [ConditionList("", (token("a"),)), ConditionList("", (token("b", wanted=False),))],
    '(not ["e"] NOT <a>)': [ConditionList("", (tag("e", wanted=False), token("a", wanted=False)))],
    "</a%20b> (<a>) (<b>) <http://h/c> (<c>)": [
        ConditionList("/a%20b", (token("a"),)),
        ConditionList("/a%20b", (token("b"),)),
        ConditionList("http://h/c", (token("c"),)),
    ],
    '([W/"e"])': [ConditionList("", (tag('W/"e"'),))],
    "([e])": [ConditionList("", (tag("e"),))],
    "(<>)": [ConditionList("", (token(""),))],
}  # fmt: skip


def test_lists_of_conditions_are_read():
    assert {text: parse_if(text) for text in LISTS} == LISTS


REFUSED = ["", " ", "()", "(", ")", "<a>", "<> (<a>)", "(<a>", "(Not)", "(Not Not <a>)", "(<a>) </b> (<c>)", "x",
           "(x)", "(<a>) x", "((<a>))", '(["e)', "(<a" + ">" * 3, "(<a>)" * 101, "(" + "<a>" * 101 + ")",
           "(<" + "a" * 9000 + ">)"]  # fmt: skip
#: Each is repeated until the header is as long as a server accepts: a parser that goes back would not end.
REPEATED = ["<", "(", "[", '["', "Not ", " ", "(<a", "(<a> ", "<a>("]


def test_what_is_not_a_list_of_conditions_is_refused():
    for text in (*REFUSED, *(piece * (8192 // len(piece)) for piece in REPEATED)):
        with pytest.raises(IfHeaderError):
            pytest.fail(f"{text[:50]!r} is read as {parse_if(text)}")
