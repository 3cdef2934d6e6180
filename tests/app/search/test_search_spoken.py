"""Words for days that move: what they find when a new day begins."""

from datetime import datetime

import pytest

from photosvc.media.metadata import Metadata
from photosvc.models import Album
from photosvc.models.counters import record_change
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import new_extraction, store_extractions
from tests.helpers.library import open_library

SMART = "a000000000000009"
#: Paths, parameters, and the number of photos of yesterday in the answer.
DOORS = (
    ("/photos", {"q": "yesterday"}, len),
    ("/photos", {"s": SMART}, len),
    ("/albums", {}, lambda albums: albums[0]["PhotoCount"]),
    (f"/albums/{SMART}", {}, lambda album: album["PhotoCount"]),
    ("/photos/facets", {"q": "yesterday", "by": "year"}, lambda facets: facets["year"][0]["count"]),
    ("/photos/facets", {"s": SMART, "by": "year"}, lambda facets: facets["year"][0]["count"]),
    ("/photos/timeline", {"q": "yesterday"}, lambda timeline: timeline["total"]),
    ("/photos/sequence", {"s": SMART, "total": "true"}, lambda sequence: sequence["total"]),
)


def taken(*when):
    return datetime(*when)  # noqa: DTZ001 - wall time


@pytest.mark.parametrize(
    ("zone", "hours", "before"),
    [("Pacific/Auckland", 11 + 12, 2), ("America/St_Johns", 15.5, 1), ("UTC", 12, 1)],
)
def test_a_new_day_begins_at_midnight_in_the_zone_of_the_service(tmp_path, zone, hours, before):
    library = open_library(tmp_path, settings={"PHOTOSVC_TIMEZONE": zone})
    # One of the 28th of February, two of the first of March, three of the second.
    days = [taken(2026, 2, 28, 12), *[taken(2026, 3, 1, 12)] * 2, *[taken(2026, 3, 2, 12)] * 3]
    extracted = [new_extraction(number, metadata=Metadata(taken_local=day)) for number, day in enumerate(days)]
    with library.session() as session:
        store_extractions(session, [(f"{number}.jpg", one) for number, one in enumerate(extracted)], NOW)
        session.add(Album(uid=SMART, title="New", filter="yesterday", created_at=NOW, updated_at=NOW))
        record_change(session)

    def ask(known=None):
        """The numbers of photos in the answers of all doors, or their statuses, and their tags."""
        numbers, tags = [], []
        for path, parameters, number in DOORS:
            headers = {"X-Auth-Token": library.token(), "If-None-Match": known and known[len(tags)]}
            answer = library.app.test_client().get(f"/api/v1{path}", query_string=parameters, headers=headers)
            numbers.append(number(answer.json) if answer.status_code == 200 else answer.status_code)
            tags.append(answer.headers["ETag"])
        return numbers, tags

    numbers, tags = ask()
    assert numbers == [before] * len(DOORS)
    library.clock.move(hours=hours, seconds=-1)
    assert ask(tags) == ([304] * len(DOORS), tags)
    library.clock.move(seconds=1)
    assert ask(tags)[0] == [before + 1] * len(DOORS)
    library.close()
