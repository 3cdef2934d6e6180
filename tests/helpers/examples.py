"""The random examples that a test tries: everyday runs repeat a tenth of them, `make coverage` repeats all of them, and
`make test-examples` draws new ones.
"""

import os
from typing import Any

from hypothesis import settings

#: At least as many in everyday runs, where a test has that many.
_EVERYDAY = 40
#: All examples, the same in each run (`all`), or others in each run (`new`).
_TRIES_ALL = os.environ.get("TEST_EXAMPLES") in {"all", "new"}
_DRAWS_NEW = os.environ.get("TEST_EXAMPLES") == "new"


def choose() -> None:
    """Try the same examples each time, unless new ones are asked for: an old fault must not fail a later change."""
    settings.register_profile("photosvc", derandomize=not _DRAWS_NEW)
    settings.load_profile("photosvc")


def examples(most: int, everyday: int = 0, **options: Any) -> settings:
    """Settings of a test that tries at most so many examples, without a limit of time for each.

    Args:
        most: the number of examples in `make test-examples`.
        everyday: the number of examples in everyday runs, where it is not the usual share.
        options: further ones of `hypothesis.settings`.

    """
    usual = everyday or min(most, max(_EVERYDAY, most // 10))
    return settings(max_examples=most if _TRIES_ALL else usual, deadline=None, **options)
