"""Requests that no browser sends: each is answered by a page, none by an error of the server."""

import pytest


@pytest.mark.parametrize("host", ["[::1", "[x]", "a[b", "//", "a/b?c#d", "xn--a@b", "%", "localhost:port"])
def test_a_form_for_a_host_that_is_none_is_that_of_another_site(alice, host):
    for path in ("/sign-in", "/settings/account/name", "/albums/new"):
        answer = alice.open(path, method="POST", headers={"Origin": "http://localhost", "Host": host}, data={})
        assert (answer.status_code, "Another site or program" in answer.text) == (403, True), answer.text
