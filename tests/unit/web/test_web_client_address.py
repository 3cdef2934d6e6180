import pytest
from flask import Request

from photosvc.web.proxies import client_address


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:4711", "192.0.2.7"),
        (" 192.0.2.7:4711 ", "192.0.2.7"),
        ("[2001:db8::7]:4711", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("2001:db8::7", "2001:db8::7"),
        ("2001:db8::4711", "2001:db8::4711"),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.7"),
        ("::1", "::1"),
        ("fe80::1%eth0", "fe80::1%eth0"),
        ("192.0.2.7:", "192.0.2.7:"),
        ("192.0.2.7:http", "192.0.2.7:http"),
        ("example.org:80", "example.org:80"),
        ("[2001:db8::7", "[2001:db8::7"),
        ("unknown", "unknown"),
        ("", ""),
    ],
)
def test_the_address_of_a_client_has_no_port(remote, address):
    assert client_address(Request({"REMOTE_ADDR": remote, "REQUEST_METHOD": "GET"})) == address


def test_without_an_address_it_is_empty():
    assert client_address(Request({"REQUEST_METHOD": "GET"})) == ""
