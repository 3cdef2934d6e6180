"""The header `If`: which texts are lists of conditions."""

import time

import pytest

from photosvc.dav.dav_request import Condition, IfHeaderError, List, parse_if


def token(value, *, wanted=True):
    return Condition(wanted, False, value)


def tag(value, *, wanted=True):
    return Condition(wanted, True, value)


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("(<a>)", [List("", (token("a"),))]),
        (' ( <a>  ["e"] ) ', [List("", (token("a"), tag("e")))]),
        ("(<a>)(Not <b>)", [List("", (token("a"),)), List("", (token("b", wanted=False),))]),
        ('(not ["e"] NOT <a>)', [List("", (tag("e", wanted=False), token("a", wanted=False)))]),
        ("</a%20b> (<a>) (<b>) <http://h/c> (<c>)", [
            List("/a%20b", (token("a"),)), List("/a%20b", (token("b"),)), List("http://h/c", (token("c"),)),
        ]),
        ('([W/"e"])', [List("", (tag('W/"e"'),))]),
        ("([e])", [List("", (tag("e"),))]),
        ("(<>)", [List("", (token(""),))]),
    ],
)  # fmt: skip
def test_lists_are_read(text, lists):
    assert parse_if(text) == lists


@pytest.mark.parametrize(
    "text",
    ["", " ", "()", "(", ")", "<a>", "<> (<a>)", "(<a>", "(Not)", "(Not Not <a>)", "(<a>) </b> (<c>)", "x", "(x)",
     "(<a>) x", "((<a>))", '(["e)', "(<a" + ">" * 3, "(<a>)" * 101, "(" + "<a>" * 101 + ")", "(<" + "a" * 9000 + ">)"],
)  # fmt: skip
def test_what_is_not_a_list_of_conditions_is_refused(text):
    with pytest.raises(IfHeaderError):
        parse_if(text)


@pytest.mark.parametrize("piece", ["<", "(", "[", '["', "Not ", " ", "(<a", "(<a> ", "<a>("])
def test_no_header_takes_long(piece):
    began = time.process_time()
    with pytest.raises(IfHeaderError):
        parse_if(piece * (8192 // len(piece)))
    assert time.process_time() - began < 0.1
