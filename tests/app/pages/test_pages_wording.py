"""Times and browsers in the words of people."""

from datetime import UTC, datetime, timedelta

import pytest

from photosvc.pages.wording import ago, browser_name, ends, scope_words

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "just now"), (59, "just now"), (60, "1 minute ago"), (240, "4 minutes ago"), (3600, "1 hour ago"),
     (86_399, "23 hours ago"), (86_400, "1 day ago"), (59 * 86_400, "59 days ago"),
     (60 * 86_400, "on 23 September 2026")],
)  # fmt: skip
def test_how_long_ago(seconds, text):
    assert ago(NOW - timedelta(seconds=seconds), NOW) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "has ended"), (1, "ends in 1 day"), (6 * 86_400, "ends in 6 days"), (101 * 86_400, "ends 3 March 2027")],
)
def test_when_it_ends(seconds, text):
    assert ends(NOW + timedelta(seconds=seconds), NOW) == text
    assert ends(None, NOW) == "no end date"


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/156.0 Safari/537.36 Edg/156.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/156.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.5", "curl"),
        ("", "Unknown program"),
        ("x" * 500, "x" * 60),
    ],
)  # fmt: skip
def test_which_browser(header, name):
    assert browser_name(header) == name


@pytest.mark.parametrize(
    ("scope", "words"),
    [("*", "Everything but this account"), ("webdav", "Network folder"), ("read", "Read everything"),
     ("write", "Change everything"), ("photos", "Read and change photos"),
     ("photos albums read", "Read albums and photos"),
     ("* photos:false", "Read and change everything, but not photos"), ("metrics:true read", "Read metrics"),
     ("", "Nothing"), ("read write", "Read and change everything")],
)  # fmt: skip
def test_what_a_scope_opens(scope, words):
    assert scope_words(scope) == words
