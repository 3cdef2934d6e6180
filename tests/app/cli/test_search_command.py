"""`svc search`: what it prints."""

import orjson
import pytest
from sqlalchemy import select

from photosvc.models import Photo
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos, edit_photos
from tests.helpers.library import call_svc, copy_library, open_library


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The library of which each test has a copy."""
    library = open_library(tmp_path_factory.mktemp("filled") / "instance")
    with library.session() as session:
        add_photos(session, 8, NOW)
        edit_photos(session, list(session.scalars(select(Photo.id).order_by(Photo.id).limit(1))), private=True)
    library.close()
    return library


@pytest.fixture
def search(filled, tmp_path):
    """Runs `svc search` on a library of eight photos, the first of them private."""
    library = copy_library(filled, tmp_path / "instance")

    def run(*arguments):
        return call_svc("search", *arguments, instance=library.instance)

    run.library = library
    yield run
    library.close()


def test_results_are_a_table_that_includes_private_photos(search):
    admin = search.library.token(role="admin")
    uids = {record["FileName"]: record["UID"] for record in search.library.find(token=admin)}
    answer = search("apfel", "--order", "name", "--csv")
    assert answer.stdout.splitlines() == [
        "UID,Taken,Title,File",
        f"{uids['a/n0-0000.jpg']},2020-02-28T23:30:00Z,Äpfel,a/n0-0000.jpg",
        f"{uids['a/n0-0000.dng']},2020-02-28T23:30:00Z,Äpfel,a/n0-0000.dng",
        f"{uids['b/n0-0004.jpg']},2020-02-29T03:30:00Z,Äpfel,b/n0-0004.jpg",
    ]
    assert (answer.returncode, answer.stderr) == (0, "")
    assert search("apfel").stdout.split()[:4] == ["UID", "Taken", "Title", "File"]


def test_words_alone_are_sorted_by_relevance_which_is_said(search):
    library = search.library
    with library.session() as session:
        first, second, third = session.scalars(select(Photo.id).order_by(Photo.id).limit(3))
        edit_photos(session, [first], title="Apples")
        edit_photos(session, [second], title="Applesauce")
        edit_photos(session, [third], title="T", description="an apple")
    answer = search("apple")
    titles = [word for word in answer.stdout.split() if word in {"Apples", "T", "Applesauce"}]
    assert list(dict.fromkeys(titles)) == ["Apples", "T", "Applesauce"]
    assert answer.stderr == "whole words first, then longer ones; --order added has the last added first\n"
    for arguments in (("apple", "--order", "added"), ("apple year:2020-",), ("videos",), ("",)):
        assert search(*arguments).stderr == ""


def test_count_and_offset_choose_the_part_that_is_printed(search):
    lines = search("--order", "name", "--count", "2", "--offset", "1", "--csv").stdout.splitlines()
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["A/n1-0005.jpg", "A/n1-0005.dng"]


def test_json_has_the_records_of_the_api(search):
    library = search.library
    records = library.find(q="zebra", token=library.token(role="admin"))
    assert len(records) == 2
    assert orjson.loads(search("zebra", "--json").stdout) == records


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("colour:blau",), 2, 'Error: color: "blau" is not black, grey, brown,'),
        (("--order", "newset"), 2, "Error: order 'newset' is unknown: did you mean newest?"),
        (("--album", "a000000000000000"), 3, "Error: there is no such album"),
    ],
)
def test_errors_are_one_sentence(search, arguments, code, message):
    answer = search(*arguments)
    assert (answer.returncode, answer.stdout) == (code, "")
    assert message in answer.stderr


def test_an_explanation_says_what_words_mean(search):
    assert search("--explain", "zebra february 2020", "--csv").stdout.splitlines() == [
        "Words,Meaning",
        "february 2020,taken:2020-02",
    ]
    assert orjson.loads(search("--explain", "zebra", "--json").stdout) == []


def test_hints_for_a_search_that_finds_nothing_are_no_results(search):
    answer = search("zebrra")
    assert "zebra" not in answer.stdout
    assert (answer.returncode, answer.stderr) == (0, "did you mean zebra?\n")
    assert search("zebra iso:>6400", "--json").stdout == "[]\n"
