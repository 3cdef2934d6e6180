"""An outage as a line of the log at its beginning and one at its end."""

import logging

from photosvc.core.logs import Outages
from tests.helpers.clock import MovedClock

LOG = logging.getLogger("test_core_outages")


def steps(caplog, *given, pause=0.0):
    """The lines of failures (`!`) and successes, each after so many seconds."""
    clock = MovedClock()
    outages = Outages(clock)
    for number, (seconds, what) in enumerate(given):
        clock.move(seconds=seconds)
        if what == "!":
            outages.report(LOG, "database: %s is away", number, pause=pause)
        else:
            outages.end(LOG, "it answers again")
    return caplog.messages


def test_each_outage_has_a_line_at_its_beginning_and_one_at_its_end(caplog):
    given = ((0, "ok"), (0, "!"), (2, "!"), (4, "ok"), (1, "ok"), (1, "!"), (59, "!"), (1, "ok"))
    assert steps(caplog, *given) == [
        "database: 1 is away",
        "it answers again after 6 s (2 requests failed)",
        "database: 5 is away",
        "it answers again after 60 s (2 requests failed)",
    ]


def test_a_failure_long_after_the_last_one_is_logged_as_its_outage_may_be_a_second_one(caplog):
    given = ((0, "!"), (60, "!"), (61, "!"), (9, "ok"))
    assert steps(caplog, *given) == [
        "database: 0 is away",
        "database: 2 is away",
        "it answers again after 130 s (3 requests failed)",
    ]


def test_where_some_requests_succeed_an_outage_ends_a_while_after_the_last_failure(caplog):
    given = ((0, "!"), (0, "ok"), (8, "!"), (29, "ok"), (1, "ok"), (0, "!"))
    assert steps(caplog, *given, pause=30.0) == [
        "database: 0 is away",
        "it answers again after 8 s (2 requests failed)",
        "database: 5 is away",
    ]


def test_an_outage_for_all_after_one_for_some_is_another_one(caplog):
    clock = MovedClock()
    outages = Outages(clock)
    outages.report(LOG, "database: locked", pause=30.0)
    clock.move(seconds=10)
    outages.report(LOG, "database: away")
    clock.move(seconds=6)
    outages.report(LOG, "database: locked", pause=30.0)
    outages.report(LOG, "database: away")
    clock.move(seconds=1)
    outages.end(LOG, "it answers again")
    assert caplog.messages == [
        "database: locked",
        "database: away",
        "it answers again after 7 s (3 requests failed)",
    ]
