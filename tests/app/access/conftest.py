"""A library with shared albums."""

from collections.abc import Iterator

import pytest

from tests.app.access.sharing import Shared, open_shared


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """A library with albums to share; tests make links, accounts and albums of their own in it."""
    with open_shared(tmp_path_factory.mktemp("shared")) as shared:
        yield shared
