"""Requests that no browser sends: each is answered by a page, none by an error of the server."""

import pytest

from tests.app.pages.browser import OWN


@pytest.mark.parametrize("host", ["[::1", "[x]", "a[b", "//", "a/b?c#d", "xn--a@b", "%", "localhost:port"])
def test_a_form_for_a_host_that_is_none_is_that_of_another_site(alice, host):
    for path in ("/sign-in", "/settings/account/name", "/albums/new"):
        answer = alice.open(path, method="POST", headers={"Origin": "http://localhost", "Host": host}, data={})
        assert (answer.status_code, "Another site or program" in answer.text) == (403, True), answer.text


def test_a_part_of_a_form_without_a_name_is_left_out(ann):
    part = 'Content-Disposition: form-data; name="photo-1\r\n\r\nyes\r\n'
    body = f"--cut\r\n{part}--cut\r\nContent-Disposition: form-data\r\n\r\nyes\r\n--cut--\r\n"
    for path in ("/administration/look-alikes/restore", "/administration/accounts", "/albums/new"):
        answer = ann.open(
            path,
            method="POST",
            headers={**OWN, "Origin": "http://localhost", "Content-Type": "multipart/form-data; boundary=cut"},
            data=body,
        )
        assert answer.status_code == 400, answer.text
