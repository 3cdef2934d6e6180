"""Alternatives, groups, quotes and wildcards in values of filters."""

from photosvc.query.lexer import Alternative, read_alternatives

ALL = "|!-*&"


def read(raw: str, operators: str = ALL) -> list[list[str]]:
    """Groups of alternatives, each as text with its sign."""
    return [[("!" if a.negated else "") + a.text for a in group] for group in read_alternatives(raw, operators)]


def test_values_fall_into_groups_of_alternatives() -> None:
    for raw, expected in (
        ("a", [["a"]]),
        ("a|b&c|d", [["a", "b"], ["c", "d"]]),
        ("a||b|", [["a", "b"]]),
        ("&a&&b&", [["a"], ["b"]]),
        ("", []),
        ('""', []),
        ('" "|!', []),
        ("!a|-b", [["!a", "!b"]]),
        ('!"a b"', [["!a b"]]),
        ('"!a"', [["!a"]]),
        ('"a&!b"', [["a"], ["!b"]]),
        ('"a | -b"', [["a", "!b"]]),
        ('" ! a"', [["!a"]]),
        (r'"\!a|\-b"', [["!a", "-b"]]),
        (r"\!a|b\-c", [["!a", "b-c"]]),
        ("a-b", [["a-b"]]),
        ('"Jane Doe & John Doe"', [["Jane Doe"], ["John Doe"]]),
        ('"a b"|"c d"', [["a b", "c d"]]),
        (r"a\|b", [["a|b"]]),
        (r'"a\&b"', [["a&b"]]),
        (r"a\b", [[r"a\b"]]),
        ("a\\", [["a\\"]]),
        (" a | b ", [["a", "b"]]),
    ):
        assert read(raw) == expected


def test_operators_that_a_filter_lacks_are_characters() -> None:
    assert read("!a|b&c*", "") == [["!a|b&c*"]]
    assert read_alternatives("-5|!6", "|!")[0][0].negated is False
    assert read_alternatives("-5|!6", "|!")[0][1].negated is True


def test_wildcards_part_the_text_and_escaped_ones_do_not() -> None:
    assert read_alternatives(r"a*b\*c", ALL) == [[Alternative(("a", "b*c"), False, False, 0, 6)]]


def test_quotes_are_remembered_when_they_open_the_alternative() -> None:
    quoted = [a.quoted for a in read_alternatives('"a|b"|c|d"e"|!"f"', ALL)[0]]
    assert quoted == [True, True, False, False, True]


def test_alternatives_know_their_place() -> None:
    assert [(a.start, a.end) for a in read_alternatives("ab|cd", ALL)[0]] == [(0, 2), (3, 5)]


def test_an_open_quote_ends_with_the_value() -> None:
    assert read_alternatives('a"b ', ALL) == [[Alternative(("ab",), False, False, 0, 4)]]
    assert read_alternatives('"a|b', ALL)[0][1] == Alternative(("b",), False, True, 3, 4)
