import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.auth.scopes import EVERYTHING, RESOURCES, SCOPES, is_within, parse_scope
from photosvc.core.errors import InvalidValueError
from tests.helpers.examples import examples

RESOURCES_AND_NEW = (*RESOURCES, "invented-later")
words = st.sampled_from(["*", "read", "write", *RESOURCES[:6], *(f"{name}:false" for name in RESOURCES[:6])])
scopes = st.lists(words, max_size=6).map(lambda chosen: parse_scope(" ".join(chosen)))


def reach(scope):
    """All a scope covers, spelt out."""
    return {(name, write) for name in RESOURCES_AND_NEW for write in (False, True) if scope.covers(name, write=write)}


def pairs(*names, modes=(False, True)):
    return {(name, write) for name in names for write in modes}


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("*", pairs(*RESOURCES_AND_NEW)),
        ("read", pairs(*RESOURCES_AND_NEW, modes=[False])),
        ("write", pairs(*RESOURCES_AND_NEW, modes=[True])),
        ("read write", pairs(*RESOURCES_AND_NEW)),
        ("* read", pairs(*RESOURCES_AND_NEW, modes=[False])),
        ("photos", pairs("photos")),
        ("photos:true", pairs("photos")),
        ("photos read", pairs("photos", modes=[False])),
        ("photos write", pairs("photos", modes=[True])),
        ("photos read write", pairs("photos")),
        ("photos albums", pairs("photos", "albums")),
        ("* photos:false", pairs(*RESOURCES_AND_NEW) - pairs("photos")),
        ("read photos:false", pairs(*(set(RESOURCES_AND_NEW) - {"photos"}), modes=[False])),
        ("photos photos:false", set()),
        ("photos:false", set()),
        ("", set()),
    ],
)
def test_a_scope_covers_exactly_the_resources_of_its_words(text, covered):
    assert reach(parse_scope(text)) == covered
    assert bool(parse_scope(text)) == bool(covered)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("photos  Albums photos", "albums photos"),
        ("webdav *", "* webdav"),
        ("write READ\tphotos:TRUE", "photos read write"),
        ("* photos:false", "* photos:false"),
    ],
)
def test_the_text_of_a_scope_is_its_sorted_words(text, canonical):
    assert str(parse_scope(text)) == canonical
    assert parse_scope(canonical) == parse_scope(text)


@pytest.mark.parametrize("text", ["photos:view", "photos:", "*:false", "read:false", ":false", "a" * 1001, "x:\0"])
def test_a_scope_word_without_meaning_is_refused(text):
    with pytest.raises(InvalidValueError):
        parse_scope(text)


def test_a_stored_scope_of_a_later_version_keeps_its_names_and_opens_only_those():
    scope = parse_scope("photos hologram", known_only=False)
    assert str(scope) == "hologram photos"
    assert scope.covers("hologram", write=True)
    assert not scope.covers("albums", write=False)


@pytest.mark.parametrize("text", ["photos,albums", "a\0b", "ü", "-x", "x" * 33])
def test_even_then_a_name_must_look_like_one(text):
    with pytest.raises(InvalidValueError, match="is not a scope"):
        parse_scope(text, known_only=False)


def test_every_scope_has_one_name_and_a_description():
    assert len({item.name for item in SCOPES}) == len(SCOPES) == 33
    assert all(item.description for item in SCOPES)
    assert [item.name for item in SCOPES[:3]] == ["*", "read", "write"]
    assert list(RESOURCES) == sorted(RESOURCES)


@examples(200)
@given(st.lists(words, max_size=8), st.randoms())
def test_order_and_repeats_do_not_matter(chosen, random):
    again = chosen + chosen[:3]
    random.shuffle(again)
    assert parse_scope(" ".join(again)) == parse_scope(" ".join(chosen))


@examples(300)
@given(scopes, scopes)
def test_a_scope_is_within_another_if_that_reaches_all_that_it_reaches(granted, requested):
    assert is_within(requested, granted) is (reach(requested) <= reach(granted))


def test_a_list_of_all_names_is_not_everything_since_more_names_will_come():
    every = parse_scope(" ".join(RESOURCES))
    assert is_within(every, EVERYTHING)
    assert not is_within(EVERYTHING, every)


@examples(300)
@given(st.text(max_size=60) | st.text(alphabet="photsread :*write\t", max_size=60))
def test_no_text_makes_the_scope_parser_fail_otherwise(text):
    for known_only in (True, False):
        try:
            scope = parse_scope(text, known_only=known_only)
        except InvalidValueError:
            continue
        assert parse_scope(str(scope), known_only=known_only) == scope


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a" * 40 + ":view", f'only ":true" and ":false" can follow the scope "{"a" * 32}"'),
        ("z" * 40, f'"{"z" * 32}" is not a scope'),
        ("fotos", '"fotos" is not a scope; did you mean "photos"?'),
        ("*:true", '"*" cannot be limited with a colon'),
        ("a" * 1001, "a scope has at most 1000 characters"),
    ],
)
def test_a_refusal_names_the_first_letters_of_the_scope_and_the_nearest_one(text, message):
    with pytest.raises(InvalidValueError) as refused:
        parse_scope(text)
    assert str(refused.value) == message


def test_the_longest_scope_is_taken():
    assert str(parse_scope("photos" + " " * 994)) == "photos"
