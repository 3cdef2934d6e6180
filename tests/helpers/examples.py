"""The random examples that a test tries: the same hundred at most every day, new and all of them at night."""

import os
from typing import Any

from hypothesis import settings

_EVERYDAY = 100
#: At night: an old fault must not fail a later change by day.
_NEW = os.environ.get("TEST_EXAMPLES") == "new"


def choose() -> None:
    """Try the same examples each time, unless new ones are wanted."""
    settings.register_profile("photosvc", derandomize=not _NEW)
    settings.load_profile("photosvc")


def examples(most: int, everyday: int = _EVERYDAY, **options: Any) -> settings:
    """Settings of a test that tries at most so many examples, without a limit of time for each.

    Args:
        most: the number of examples at night.
        everyday: the number of examples in everyday runs, at most 100.
        options: further ones of `hypothesis.settings`.
    """
    return settings(max_examples=most if _NEW else min(most, everyday), deadline=None, **options)
