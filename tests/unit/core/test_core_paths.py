import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.core.errors import NotFoundError
from photosvc.core.paths import clean_name, disk_name, inside

NAMES = st.binary(min_size=1, max_size=60).filter(lambda raw: b"\0" not in raw).map(os.fsdecode)


@given(NAMES)
def test_disk_name_is_the_inverse_of_clean_name(name):
    assert disk_name(clean_name(name)) == name


@given(NAMES)
def test_a_clean_name_is_text_without_control_characters(name):
    cleaned = clean_name(name)
    cleaned.encode("utf-8", "strict")
    assert not any(ord(character) < 32 or ord(character) == 127 for character in cleaned)
    assert cleaned.count("/") == name.count("/")


@given(NAMES, NAMES)
def test_different_names_stay_different(first, second):
    assert (clean_name(first) == clean_name(second)) == (first == second)


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        (b"2020/a b.jpg", "2020/a b.jpg"),
        ("ä/日本.jpg".encode(), "ä/日本.jpg"),
        (b"100%25.jpg", "100%25.jpg"),
        (b"caf\xe9 50%.jpg", "%FFcaf%E9 50%25.jpg"),
        (b"a\nb/c\x7f", "%FFa%0Ab/%FFc%7F"),
        (b"%FF.jpg", "%FF%25FF.jpg"),
    ],
)
def test_clean_names_have_these_forms(raw, cleaned):
    assert clean_name(os.fsdecode(raw)) == cleaned
    assert os.fsencode(disk_name(cleaned)) == raw


def test_a_path_inside_is_found(tmp_path):
    assert inside(tmp_path, "a/b.jpg") == tmp_path / "a/b.jpg"
    assert os.fsencode(inside(tmp_path, "%FFcaf%E9")) == os.fsencode(tmp_path) + b"/caf\xe9"


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "/", "..", "../a", "a/../../b", "/etc/passwd", "a\0b", "%FF%00", "%FF%2E%2E/x", "%FF%2Fetc/passwd",
        "%FF..%2F..%2Fetc", "out/passwd", "self", "./..",
    ],
)  # fmt: skip
def test_no_name_leads_out_of_the_root(tmp_path, name):
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to("/etc")
    (root / "self").symlink_to(".")
    with pytest.raises(NotFoundError, match="No such file in the library"):
        inside(root, name)


@given(st.text(max_size=60))
def test_whatever_the_name_the_path_is_below_the_root_or_refused(tmp_path_factory, name):
    root = tmp_path_factory.getbasetemp()
    try:
        path = inside(root, name)
    except NotFoundError:
        return
    assert path.is_relative_to(root)
    assert path != root


@pytest.mark.parametrize("name", ["x\x9b31m.txt", "a\u202egpj.exe", "line\u2028break.jpg", "%FF\x85"])
def test_names_that_would_steer_a_terminal_are_escaped_and_lead_back(name):
    clean = clean_name(name)
    assert clean.isprintable()
    assert disk_name(clean) == name
