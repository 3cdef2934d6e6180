"""Every payload in every parameter of a search; by day each parameter is tried with some of them."""

import pytest

from tests.app.search.test_search_hostile import INJECTIONS, PARAMETERS, PAYLOADS, files_of, viewer

__all__ = ["viewer"]


@pytest.mark.timeout(1200)
def test_no_payload_in_any_parameter_widens_a_search(viewer):
    for name in PARAMETERS:
        for payload in (*PAYLOADS, *INJECTIONS):
            viewer.ask({name: payload})
        assert files_of(viewer.ask({"count": 1000}).json) == viewer.visible, name
