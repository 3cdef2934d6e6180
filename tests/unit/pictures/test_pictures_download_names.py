"""Names under which originals are downloaded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.pictures.download_names import UniqueNames, safe_name
from tests.helpers.examples import examples


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("IMG_1.jpg", "IMG_1.jpg"), ("Zürich – 雪.jpg", "Zürich – 雪.jpg"), ("../../etc/passwd", "_.._etc_passwd"),
        ("a\\b:c*d?e.jpg", "a_b_c_d_e.jpg"), ("line\nbreak\x00.jpg", "line_break_.jpg"),
        ("abc\u202egpj.exe", "abc_gpj.exe"), ("CON.jpg", "_CON.jpg"), ("nul", "_nul"), ("con .jpg", "_con .jpg"),
        ("Lpt\u00b2.tar.gz", "_Lpt\u00b2.tar.gz"), ("CONIN$", "_CONIN$"), ("come.jpg", "come.jpg"), (" . ", "file"),
        ("..", "file"), ("ends with dots...", "ends with dots"), ("a" * 195 + "." * 9 + "b" * 21, "a" * 195),
        ("é" * 300 + ".jpeg", "é" * 97 + ".jpeg"),
    ],
)  # fmt: skip
def test_names_are_made_safe_for_every_system(name, safe):
    assert safe_name(name) == safe


def test_names_that_differ_only_in_case_or_accents_get_numbers():
    names = UniqueNames()
    unique = [names.take(name) for name in ("a.jpg", "A.JPG", "a.jpg", "a (2).jpg", "b", "b", "e\u0301.jpg", "é.jpg")]
    assert unique == ["a.jpg", "A (2).JPG", "a (3).jpg", "a (2) (2).jpg", "b", "b (2)", "e\u0301.jpg", "é (2).jpg"]


def test_numbers_are_found_among_names_that_end_in_numbers():
    names = UniqueNames()
    for number in range(2, 5000):
        names.take(f"a ({number})")
    assert [names.take("a") for _ in range(3)] == ["a", "a (5000)", "a (5001)"]


@examples(100)
@given(st.lists(st.text(max_size=12), max_size=12))
def test_any_names_come_out_safe_and_different(given_names):
    names = UniqueNames()
    unique = [names.take(name) for name in given_names]
    assert len({name.casefold() for name in unique}) == len(unique)
    assert not any(set(name) & set('/\\:*?"<>|\0\n') or name in {"", ".", ".."} for name in unique)
