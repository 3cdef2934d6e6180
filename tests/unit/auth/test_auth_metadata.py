import pytest

from photosvc.auth.metadata import PROTECTED_RESOURCE, openid_configuration, resource_metadata, well_known_url


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://a.example", "https://a.example/.well-known/x"),
        ("http://a.example:8080", "http://a.example:8080/.well-known/x"),
        ("https://a.example/photos", "https://a.example/.well-known/x/photos"),
        ("https://a.example/my/photos", "https://a.example/.well-known/x/my/photos"),
    ],
)
def test_the_well_known_path_goes_before_that_of_the_issuer(base_url, url):
    assert well_known_url(base_url, "x") == url


def test_a_resource_is_named_by_the_base_address():
    found = resource_metadata("https://a.example/p", ["photos"], "Our pictures")
    assert (found["resource"], found["resource_name"]) == ("https://a.example/p", "Our pictures")
    assert (
        well_known_url("https://a.example/p", PROTECTED_RESOURCE)
        == "https://a.example/.well-known/oauth-protected-resource/p"
    )


def test_all_addresses_begin_with_the_base_address():
    found = openid_configuration("https://a.example/p", ["photos"])
    assert found["issuer"] == "https://a.example/p"
    assert found["token_endpoint"] == "https://a.example/p/api/v1/oauth/token"
    assert found["revocation_endpoint"] == "https://a.example/p/api/v1/oauth/revoke"
    assert found["introspection_endpoint"] == "https://a.example/p/api/v1/oauth/introspect"
    assert found["jwks_uri"] == "https://a.example/p/.well-known/jwks.json"
