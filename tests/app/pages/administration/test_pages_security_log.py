"""Administration > Security log in a browser without scripts."""

import re

import pytest

from photosvc.auth.audit import Event
from photosvc.models import AuditEntry
from photosvc.pages.administration.security_log import EVENTS, PARTS
from tests.app.pages.browser import OWN, Browser, text_of
from tests.helpers.clock import NOW

LOG = "/administration/security-log"


@pytest.fixture
def filled(ann, api):
    """The browser of `ann`, after refused sign-ins of alice, a log-in of hers an hour later, and a command."""
    other = Browser(api, address="198.51.100.9")
    for password in ("wrong", api.access_token(), api.access_token()):
        assert other.sign_in(password=password).status_code == 403
    api.clock.move(minutes=50)
    assert other.sign_in().status_code == 303
    assert api.svc("users", "mod", "vera", "--role", "user").returncode == 0
    return ann


def shown(browser, query=""):
    """What happened, as the page tells it, the newest first."""
    answer = browser.open(f"{LOG}{query}", headers=OWN)
    assert answer.status_code == 200, text_of(answer)
    return [" ".join(re.sub("<[^>]*>", " ", text).split()) for text in re.findall(r"(?s)<h2>(.*?)</h2>", answer.text)]


def fill(api, number, **values):
    with api.library.session() as session:
        row = {"part": "changes", "event": "user.changed", "created_at": NOW, **values}
        session.add_all([AuditEntry(**row) for _ in range(number)])
        session.commit()


def test_each_event_and_part_has_words():
    assert set(EVENTS) == set(Event)
    assert {event.part for event in Event} == set(PARTS)
    assert len(set(EVENTS.values())) == len(EVENTS)


def test_entries_tell_who_did_what_from_where_the_newest_first(filled, api):
    assert shown(filled) == ["Account changed", "Signed in", "Sign-in refused 2 times", "Sign-in refused", "Signed in"]
    text = text_of(filled.open(LOG, headers=OWN))
    assert "Account changed 2026-03-01 12:50 UTC On the command line, about vera role viewer to user" in text
    assert "Signed in 2026-03-01 12:50 UTC By alice , from 198.51.100.9 login session Details" in text
    assert "Sign-in refused 2026-03-01 12:00 UTC By an unknown person, as alice , from 198.51.100.9" in text
    assert "Time 2026-03-01 12:50:00 UTC" in text
    assert f'href="{LOG}?user={api.uids["alice"]}"' in filled.open(LOG, headers=OWN).text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("user=vera", ["Account changed"]),
        ("user=ALICE", ["Signed in", "Sign-in refused 2 times", "Sign-in refused"]),
        ("user={vera}", ["Account changed"]),
        ("event=refusals", ["Sign-in refused 2 times", "Sign-in refused"]),
        ("event=user.changed", ["Account changed"]),
        ("event=login&user=alice", ["Signed in"]),
        ("from=2026-03-01&to=2026-03-01&event=login", ["Signed in", "Signed in"]),
        ("to=2026-02-28", []),
        ("from=2026-03-02", []),
        ("user=nobody", []),
        ("user=%00%27%3Cb%3E", []),
        ("before=x", ["Account changed", "Signed in", "Sign-in refused 2 times", "Sign-in refused", "Signed in"]),
    ],
)
def test_entries_are_found_by_account_event_and_time(filled, api, query, found):
    assert shown(filled, f"?{query.format(vera=api.uids['vera'])}") == found


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("event=logon", '"logon" is not an event; did you mean "login"?'),
        ("from=soon", "from must be a time ago"),
        ("to=2026-02-30", "to must be a time ago"),
        ("event=%3Cimg%20src=x%20onerror=alert(1)%3E", "is not an event"),
    ],
)
def test_a_filter_that_is_wrong_is_told_beside_its_field(ann, query, message):
    answer = ann.open(f"{LOG}?{query}", headers=OWN)
    assert (answer.status_code, message in text_of(answer)) == (400, True)
    assert 'aria-invalid="true"' in answer.text
    assert "<img" not in answer.text


def test_pages_follow_each_other_with_their_filters_and_lead_back(ann, api):
    fill(api, 120)
    number, path = 0, f"{LOG}?event=user.changed&user="
    while path:
        answer = ann.open(path, headers=OWN)
        number += answer.text.count("<h2>")
        assert ('href="/administration/security-log?event=user.changed">' in answer.text) == ("before=" in path)
        older = re.search(r'rel="next" href="([^"]+)"', answer.text)
        path = older and older[1].replace("&amp;", "&")
    assert number == 120


def test_markup_in_an_entry_is_text(ann, api):
    hostile = "<img src=x onerror=alert(1)>"
    texts = dict.fromkeys(("actor", "subject", "subject_uid", "detail", "address", "credential"), hostile)
    fill(api, 1, actor_kind="client", **texts)
    fill(api, 1, event="of.a.later.version")
    page = ann.open(LOG, headers=OWN).text
    assert ("<img" in page, "&lt;img src=x onerror" in page, "of.a.later.version" in page) == (False, True, True)
