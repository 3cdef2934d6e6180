"""The photos of searches, from each to the next."""

import re
from html import unescape

from tests.app.pages.photos import test_pages_photos as everyday
from tests.app.pages.photos.test_pages_photos import uids
from tests.helpers.browser import OWN

alice, filled_api = everyday.alice, everyday.filled_api


def test_a_photo_leads_to_the_ones_beside_it_in_the_search(filled_api, alice):
    for query, order in (("year:2020", "oldest"), ("", ""), ("tree", "relevance"), ("", "title")):
        parameters = {"q": query, "order": order or "newest"}
        expected = uids(filled_api, **parameters)
        search = "?" + "&".join(f"{k}={v}" for k, v in {"q": query, "order": order}.items() if v)
        seen, address = [], f"/photos/{expected[0]}{search.rstrip('?')}"
        while address:
            answer = alice.open(address, headers=OWN)
            seen.append(re.match(r"/photos/(\w+)", address)[1])
            before = re.search(r'rel="prev" href="/photos/(\w+)', answer.text)
            assert (before[1] if before else None) == (seen[-2] if len(seen) > 1 else None)
            following = re.search(r'rel="next" href="([^"]+)"', answer.text)
            address = unescape(following[1]) if following else ""
        assert seen == expected
