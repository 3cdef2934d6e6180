import os
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.core.errors import NotFoundError
from photosvc.core.files import clamped_time, clean_name, disk_name, full_path, open_folder, open_inside, resolve_inside
from tests.helpers.examples import examples

NAMES = st.binary(min_size=1, max_size=60).filter(lambda raw: b"\0" not in raw).map(os.fsdecode)


@examples(100)
@given(NAMES)
def test_disk_name_is_the_inverse_of_clean_name(name):
    assert disk_name(clean_name(name)) == name


@examples(100)
@given(NAMES)
def test_a_clean_name_is_text_without_control_characters(name):
    cleaned = clean_name(name)
    cleaned.encode("utf-8", "strict")
    assert not any(ord(character) < 32 or ord(character) == 127 for character in cleaned)
    assert cleaned.count("/") == name.count("/")


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


def test_a_name_is_resolved_to_a_path_below_the_root(tmp_path):
    assert resolve_inside(tmp_path, "a/b.jpg") == tmp_path / "a/b.jpg"
    assert os.fsencode(resolve_inside(tmp_path, "%FFcaf%E9")) == os.fsencode(tmp_path) + b"/caf\xe9"


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
        resolve_inside(root, name)


@examples(100)
@given(st.text(max_size=60))
def test_whatever_the_name_the_path_is_below_the_root_or_refused(tmp_path_factory, name):
    root = tmp_path_factory.getbasetemp()
    try:
        path = resolve_inside(root, name)
    except NotFoundError:
        return
    assert path.is_relative_to(root)
    assert path != root


@pytest.mark.parametrize("name", ["x\x9b31m.txt", "a\u202egpj.exe", "line\u2028break.jpg", "%FF\x85"])
def test_names_that_would_steer_a_terminal_are_escaped_and_lead_back(name):
    clean = clean_name(name)
    assert clean.isprintable()
    assert disk_name(clean) == name


def opened(root, name):
    """The content of the file that the one door to originals opens."""
    with os.fdopen(open_inside(root, name), "rb") as file:
        return file.read()


def test_a_file_is_opened_through_its_folders(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c.jpg").write_bytes(b"deep")
    (tmp_path / "d.jpg").write_bytes(b"top")
    assert (opened(tmp_path, "a/b/c.jpg"), opened(tmp_path, "d.jpg")) == (b"deep", b"top")


def test_the_root_itself_may_be_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk/a.jpg").write_bytes(b"1")
    (tmp_path / "originals").symlink_to(tmp_path / "disk")
    assert opened(tmp_path / "originals", "a.jpg") == b"1"


@pytest.mark.parametrize("name", ["link.jpg", "folder/a.jpg", "missing.jpg", "a.jpg/b.jpg", "originals"])
def test_no_link_below_the_root_is_followed_and_no_other_thing_opened(tmp_path, name):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/a.jpg").write_bytes(b"secret")
    root = tmp_path / "originals"
    root.mkdir()
    (root / "a.jpg").write_bytes(b"1")
    (root / "link.jpg").symlink_to(tmp_path / "secret/a.jpg")
    (root / "folder").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match=r"Errno"):
        opened(root, name)


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../secret/a.jpg", "a/../../a.jpg", "%FF00.jpg"])
def test_a_name_that_climbs_out_opens_nothing(tmp_path, name):
    with pytest.raises((NotFoundError, OSError)):
        opened(tmp_path, name)


def open_below(folder):
    """What this process has open there; what other tests left open may be closed at any time."""
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # the descriptor by which they are listed
            found.append(descriptor.readlink())
    return [path for path in found if path.is_relative_to(folder)]


def test_no_descriptor_is_left_open(tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("a/missing.jpg", "missing/b.jpg"):
        with pytest.raises(OSError, match=r"Errno"):
            opened(tmp_path, name)
    assert open_below(tmp_path) == []


def test_folders_are_made_only_on_request(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_folder(tmp_path, ["a", "b"])
    for _ in range(2):
        folder = open_folder(tmp_path, ["a", "b"], create=True)
        assert os.path.samestat(os.fstat(folder), (tmp_path / "a/b").stat())
        os.close(folder)


def test_a_folder_that_another_process_makes_meanwhile_is_opened(tmp_path, monkeypatch):
    make = os.mkdir

    def make_late(*arguments, **options):
        make(*arguments, **options)
        make(*arguments, **options)

    monkeypatch.setattr(os, "mkdir", make_late)
    os.close(open_folder(tmp_path, ["a"], create=True))
    assert (tmp_path / "a").is_dir()


@pytest.mark.parametrize("kind", ["link", "file"])
def test_no_folder_is_made_in_place_of_a_link_or_a_file(tmp_path, kind):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        open_folder(tmp_path, [kind, "b"], create=True)
    assert (open_below(tmp_path), list((tmp_path / "elsewhere").iterdir())) == ([], [])


def test_a_named_pipe_does_not_make_the_opener_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    os.close(open_inside(tmp_path, "pipe.jpg"))


def test_times_beyond_64_bits_are_clamped():
    status = SimpleNamespace(st_mtime_ns=1 << 70)
    assert clamped_time(status) == (1 << 63) - 1
    assert clamped_time(SimpleNamespace(st_mtime_ns=-(1 << 70))) == -(1 << 63)
    assert clamped_time(SimpleNamespace(st_mtime_ns=5)) == 5


def test_a_leading_tilde_is_the_home_folder(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert [full_path(path) for path in (" ~/x ", Path("~"), "/a/~")] == [
        Path("/home/me/x"),
        Path("/home/me"),
        Path("/a/~"),
    ]
    assert full_path("x") == Path.cwd() / "x"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "expected a path that is not empty"),
        (5, "expected a path that is not empty"),
        ("a\0b", "expected a path without NUL characters"),
        ("~no-such-user/x", "there is no home folder for ~no-such-user"),
    ],
)
def test_a_value_that_is_no_path_is_refused(value, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        full_path(value)
