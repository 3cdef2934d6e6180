"""Queries as users and clients write them: exact nodes."""

import pytest

from photosvc.query.nodes import (
    And,
    Choice,
    Everything,
    Filter,
    InvalidQueryError,
    Not,
    Or,
    Pattern,
    Phrase,
    Range,
    Word,
)
from photosvc.query.parser import MOST_TERMS
from tests.helpers.parsing import parse_query


def word(text: str) -> Word:
    return Word(text, prefix=len(text) >= 3)


def colored(*numbers: int) -> Filter:
    return Filter("color", Choice(numbers))


RED, BLUE = colored(14), colored(6)
VIDEOS = Or((Word("videos", prefix=True, forms=("video",)), Filter("video", value=True)))
A, B, C, D = map(word, "ebcd")


def test_words_and_phrases() -> None:
    for text, node in (
        ("", Everything()),
        (" \t\n", Everything()),
        ("*", Everything()),
        ("— + &", Everything()),
        ("()", Everything()),
        ("-()", Everything()),
        ("Été", Word("ete", prefix=True)),
        ("ab", Word("ab", prefix=False)),
        ("ab*", Word("ab", prefix=True)),
        ('"abc"', Word("abc", prefix=False)),
        ('"abc*"', Word("abc", prefix=True)),
        ('"New York"', Phrase(("new", "york"))),
        ('"new yo*"', Phrase(("new", "yo"), prefix=True)),
        ('"new yo *"', Phrase(("new", "yo"))),
        ('"what * is"', Phrase(("what", "is"))),
        ("IMG_1234", Phrase(("img", "1234"), prefix=True)),
        ("12:30", Phrase(("12", "30"))),
        ("http://x.y", Phrase(("http", "x", "y"))),
        ("東日", Phrase(("東", "日"))),
        ("note: e", And((word("note"), A))),
    ):
        assert parse_query(text) == node


def test_operators() -> None:
    for text, node in (
        ("e b", And((A, B))),
        ("e & b && c", And((A, B, C))),
        ("e and b AND c", And((A, B, C))),
        ("e | b c", Or((A, And((B, C))))),
        ("e or b Or c", Or((A, B, C))),
        ("e|b||c", Or((A, B, C))),
        ("(e | b) c", And((Or((A, B)), C))),
        ("(e b) (c d)", And((A, B, C, D))),
        ("(e | b) | c", Or((A, B, C))),
        ("| e |", A),
        ("e | () | b", Or((A, B))),
        ("e | title: | b", Or((A, B))),
        ("-e", Not(A)),
        ("!e", Not(A)),
        ("--e", A),
        ("-!-e", Not(A)),
        ("-(e b)", Not(And((A, B)))),
        ("-(-e)", A),
        ('-"e b"', Not(Phrase(("e", "b")))),
        ("e - b !", And((A, B))),
        ("and", word("and")),
        ("and e", A),
        ("e or", And((A, Word("or", prefix=False)))),
        ("e and or b", And((A, Word("or", prefix=False), B))),
        ('e "or" b', And((A, Word("or", prefix=False), B))),
        ("(e or b)", Or((A, B))),
        ("e or -b", Or((A, Not(B)))),
    ):
        assert parse_query(text) == node


def test_filters() -> None:
    for text, node in (
        ("sea color:red", And((word("sea"), RED))),
        ("COLOR:red", RED),
        ("color:red|blue", colored(14, 6)),
        ("color:red | color:blue", Or((RED, BLUE))),
        ("-color:red", Not(RED)),
        ("!color:red", Not(RED)),
        ("(color:red)", RED),
        ("color:red color:blue", And((RED, BLUE))),
        ("color:red&", Everything()),
        ("type:v*", Filter("type", Choice((Pattern(("v", "")),)))),
        ("type:image|raw", Filter("type", Choice((Pattern(("image",)), Pattern(("raw",)))))),
        ("public:true", Filter("public", value=True)),
        ("public:false", Everything()),
        ("favorite:false", Filter("favorite", value=False)),
        ('album:"Title (2)"', Filter("album", Choice((Pattern(("title 2",)),)))),
        ("title: e", A),
        ("folder:x", Filter("path", Choice((Pattern(("x",)),)))),
        ("filename:e:b", Filter("filename", Choice((Pattern(("e:b",)),)))),
    ):
        if text == "color:red&":  # colours know no &
            with pytest.raises(InvalidQueryError, match='"red&" is not'):
                parse_query(text)
        else:
            assert parse_query(text) == node


def test_filters_know_where_their_value_stands() -> None:
    node = parse_query("sea -color:red", field="filter")
    assert isinstance(node, And)
    assert isinstance(node.parts[1], Not)
    source = node.parts[1].part.source  # type: ignore[union-attr]
    assert (source.field, source.start, source.end) == ("filter", 11, 14)


def test_errors_say_where_and_why() -> None:
    for text, message, position in (
        ("e colr:red", 'unknown filter "colr"; did you mean "color"? (character 3)', 2),
        ("(a", "this ( is not closed (character 1)", 0),
        ('lake "sea', "this quote is not closed (character 6)", 5),
        ('title:"lake sea', "this quote is not closed (character 7)", 6),
        (
            "type:vidoe",
            (
                'type: "vidoe" is not one of image, raw, live, video, animated, vector, audio, document; did you mean'
                ' "video"? (character 6)'
            ),
            5,
        ),
        (
            "type:image|x*",
            'type: "x*" is not one of image, raw, live, video, animated, vector, audio, document (character 12)',
            11,
        ),
        ("a (b (c)", "this ( is not closed (character 3)", 2),
        ("e)", "this ) closes no group (character 2)", 1),
        (")", "this ) closes no group (character 1)", 0),
        ("f*k", "in free text * may only end a word (character 1)", 0),
        ("name:IMG(2)", "name: a value with parentheses needs quotes (character 9)", 8),
        ("a iso:x", 'iso: "x" is not a number or a range such as 100-400, 100- or <=400 (character 7)', 6),
        ("e\x00", "q holds a control character (character 2)", 1),
    ):
        with pytest.raises(InvalidQueryError) as caught:
            parse_query(text)
            pytest.fail(f"{text!r} is not refused")
        assert (caught.value.message, caught.value.position) == (message, position), text
        assert (caught.value.field, caught.value.status) == ("q", 400), text


def test_not_in_capitals_is_a_sign() -> None:
    for text, node in (
        ("NOT sea", Not(word("sea"))),
        ("sea NOT car", And((word("sea"), Not(word("car"))))),
        ("sea AND NOT (e b)", And((word("sea"), Not(And((A, B)))))),
        ("sea OR NOT -car", Or((word("sea"), word("car")))),
        ("NOT NOT sea", word("sea")),
        ("sea NOT", And((word("sea"), word("not")))),
        ('sea "NOT" e', And((word("sea"), Word("not", prefix=False), A))),
        ("NOT color:red", Not(RED)),
    ):
        assert parse_query(text) == node


def test_not_may_be_repeated_often() -> None:
    assert parse_query("NOT " * 1001 + "e") == Not(A)


def test_little_words_are_left_out_beside_other_words() -> None:
    for text, node in (
        ("the sea in the car", And((word("sea"), word("car")))),
        ("sea | the", Or((word("sea"), word("the")))),
        ("the", word("the")),
        ("in the", And((Word("in", prefix=False), word("the")))),
        ("the color:red", And((word("the"), RED))),
        ("the -sea", And((word("the"), Not(word("sea"))))),
        ("(the) sea", And((word("the"), word("sea")))),
        ('"the" sea', And((Word("the", prefix=False), word("sea")))),
        ("the* sea", And((word("the"), word("sea")))),
        ("sea the sea", word("sea")),
    ):
        assert parse_query(text) == node


def test_some_plain_words_also_mean_a_filter() -> None:
    for text, node in (
        ("videos", VIDEOS),
        ("sea videos", And((word("sea"), VIDEOS))),
        ("videos*", word("videos")),
        ('"videos"', Word("videos", prefix=False)),
        ("-videos", Not(VIDEOS)),
        ("Videos", VIDEOS),
        ("Vid\u00e9os", VIDEOS),
        ("VIDEOS:", VIDEOS),
        ("red", word("red")),
        ("f/1.8", Or((Phrase(("f", "1", "8")), Filter("f", Choice((Range(1.79, 1.81),)))))),
        ("2020..2023", Or((Phrase(("2020", "2023"), prefix=True), Filter("year", Choice((Range(2020, 2023),)))))),
    ):
        assert parse_query(text) == node


def test_a_comparison_that_is_no_filter_is_refused_with_a_hint() -> None:
    for text, message in (
        ("e iso>800", '"iso>800" is neither a word nor a filter; did you mean iso:>800? (character 3)'),
        ("Year>=2020", '"Year>=2020" is neither a word nor a filter; did you mean year:>=2020? (character 1)'),
        ("iso=800", '"iso=800" is neither a word nor a filter; did you mean iso:800? (character 1)'),
        ("iso: >800", '">800" compares nothing; write the name of a filter before it, as in iso:>800 (character 6)'),
    ):
        with pytest.raises(InvalidQueryError) as caught:
            parse_query(text)
            pytest.fail(f"{text!r} is not refused")
        assert caught.value.message == message, text


def test_other_signs_of_comparison_are_punctuation() -> None:
    for text in ("e=mc2", "->", "b<c", "x > y"):
        assert parse_query(text) == parse_query(text.translate(str.maketrans("=-<>", "----")))


def test_errors_name_the_field_they_were_given() -> None:
    with pytest.raises(InvalidQueryError) as caught:
        parse_query("colr:red", field="filter")
    assert caught.value.field == "filter"


def test_groups_nest_64_deep_and_no_deeper() -> None:
    assert parse_query("(" * 64 + "e" + ")" * 64) == A
    with pytest.raises(InvalidQueryError, match=r"more than 64 groups inside each other \(character 65\)"):
        parse_query("(" * 65 + "e" + ")" * 65)
    with pytest.raises(InvalidQueryError, match="more than 64 groups"):
        parse_query("-(" * 600)


def nested(levels: int) -> str:
    """A query in which `or` and `and` change this often."""
    query = "e"
    for level in range(levels):
        query = f"(b {query})" if level % 2 else f"(b|{query})"
    return query


def test_and_and_or_change_20_times_inside_each_other_and_no_more() -> None:
    parse_query(nested(20))
    with pytest.raises(InvalidQueryError, match=r"more than 20 changes between 'and' and 'or' .*\(character 1\)"):
        parse_query(nested(21))
    with pytest.raises(InvalidQueryError, match=r"\(character 31\)"):
        parse_query(nested(31))
    with pytest.raises(InvalidQueryError, match=r"more than 20 changes .*\(character 1\)"):
        parse_query("c|" + nested(20))


def test_a_negated_or_counts_as_an_and() -> None:
    parse_query("(e -(b|-" * 30 + "c" + "))" * 30)  # a and not b and a and not b and …
    with pytest.raises(InvalidQueryError, match="more than 20 changes"):
        parse_query("-(e " * 21 + "b" + ")" * 21)


def test_a_pattern_counts_as_its_wildcards() -> None:
    parse_query("name:" + "|".join(["*e*b*c*d*e*f*"] * 36))
    with pytest.raises(InvalidQueryError, match="more than 256 terms"):
        parse_query("name:" + "|".join(["*e*b*c*d*e*f*"] * 37))


def test_a_text_that_folds_to_more_bytes_than_databases_compare_is_refused() -> None:
    with pytest.raises(InvalidQueryError, match="more than 10,000 bytes when it is folded"):
        parse_query("title:*" + "\ufdfa" * 1000 + "*")


def test_groups_side_by_side_are_not_deep_but_count_as_terms() -> None:
    assert parse_query("()" * 255 + "e") == A
    with pytest.raises(InvalidQueryError, match="more than 256 terms"):
        parse_query("()" * 257)


def test_tokens_are_bounded() -> None:
    parse_query("e" + "|" * 100 + " & " * 1278)
    with pytest.raises(InvalidQueryError, match=r"too many words and signs \(character 2,561\)"):
        parse_query("e " + "& " * 1280)


def test_signs_may_be_many() -> None:
    assert parse_query("-" * 4095 + "e") == Not(A)


def test_terms_are_counted_with_their_alternatives() -> None:
    for term in ("e ", '"e e e e" ', "uid:" + "|".join(["e" * 40] * 4) + " "):
        weight = 4 if len(term) > 2 else 1
        if len(term) < 12:
            parse_query(term * (MOST_TERMS // weight))
            with pytest.raises(InvalidQueryError, match="more than 256 terms"):
                parse_query(term * (MOST_TERMS // weight + 1))
                pytest.fail(f"{term!r} is not refused")
        else:
            different = "".join(term.replace("e" * 40, f"{number:040x}") for number in range(20))
            assert len(parse_query(different).parts) == 20, term  # type: ignore[union-attr]


def test_one_filter_has_no_more_alternatives_than_a_query_has_terms() -> None:
    parse_query("title:" + "e|" * MOST_TERMS)
    with pytest.raises(InvalidQueryError, match="more than 256 terms"):
        parse_query("title:" + "e|" * (MOST_TERMS + 1))


def test_a_query_may_have_4096_characters() -> None:
    assert parse_query("x" * 4096) == Word("x" * 64, prefix=True)
    with pytest.raises(InvalidQueryError, match="4,096 are allowed"):
        parse_query("x" * 4097)
