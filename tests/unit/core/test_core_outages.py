"""An outage is one line of the log, and the next one tells how many requests failed in the last."""

import logging
from types import SimpleNamespace

from photosvc.core import logs
from photosvc.core.logs import Outages

LOG = logging.getLogger("test_core_outages")


def test_failures_close_to_each_other_are_one_outage(caplog, monkeypatch):
    seconds = iter([0.0, 59.0, 118.0, 179.0, 240.0, 299.0])
    monkeypatch.setattr(logs, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    outages = Outages()
    for number in range(6):
        outages.report(LOG, "database: %s is away", number)
    assert caplog.messages == [
        "database: 0 is away",
        "database: 3 is away (in the last outage, 2 more requests failed)",
        "database: 4 is away",
    ]
