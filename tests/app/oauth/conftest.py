"""Fixtures of the tests of the OAuth2 endpoints."""

from collections.abc import Iterator

import pytest

from tests.app.oauth.oauth_client import OAuthClients, open_oauth_api


@pytest.fixture(scope="module")
def oauth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OAuthClients]:
    """A library that the tests of one file share, each with clients of its own."""
    with open_oauth_api(tmp_path_factory.mktemp("oauth")) as oauth:
        yield oauth
