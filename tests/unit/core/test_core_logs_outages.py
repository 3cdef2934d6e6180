"""An outage as one line of the log; the next outage names the failed requests of the last one."""

import logging

from photosvc.core.logs import Outages
from tests.helpers.clock import MovedClock

LOG = logging.getLogger("test_core_outages")


def test_failures_close_to_each_other_are_one_outage(caplog):
    clock = MovedClock()
    outages = Outages(clock)
    for number, seconds in enumerate((0, 59, 59, 61, 61, 59)):
        clock.move(seconds=seconds)
        outages.report(LOG, "database: %s is away", number)
    assert caplog.messages == [
        "database: 0 is away",
        "database: 3 is away (in the last outage, 2 more requests failed)",
        "database: 4 is away",
    ]
