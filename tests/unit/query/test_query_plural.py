"""Plurals and singulars of English words."""

from photosvc.query.fold import other_forms

PAIRS = (
    ("flower", "flowers"), ("city", "cities"), ("toy", "toys"), ("box", "boxes"), ("bus", "buses"),
    ("glass", "glasses"), ("beach", "beaches"), ("wish", "wishes"), ("potato", "potatoes"), ("photo", "photos"),
    ("leaf", "leaves"), ("knife", "knives"), ("glove", "gloves"), ("house", "houses"), ("bridge", "bridges"),
    ("movie", "movies"), ("child", "children"), ("man", "men"), ("snowman", "snowmen"), ("person", "people"),
    ("foot", "feet"), ("iris", "irises"), ("quiz", "quizes"), ("axe", "axes"),
)  # fmt: skip


def test_each_of_the_two_stands_for_the_other():
    for one, many in PAIRS:
        assert many in other_forms(one, prefix=False)
        assert one in other_forms(many, prefix=False)


def test_a_text_that_is_no_english_word_has_no_other_form():
    for word in ("ab", "東京", "elan2", "straße", "2020", "한강"):
        assert other_forms(word, prefix=False) == ()


def test_a_beginning_of_words_needs_no_form_that_begins_with_it():
    assert other_forms("flower", prefix=True) == ()
    assert other_forms("flowers", prefix=True) == ("flower",)
    assert other_forms("city", prefix=True) == ("cities",)
