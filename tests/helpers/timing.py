"""Whether two things take the same time, on machines that do other things too."""

import statistics
from collections.abc import Callable

#: A busy machine needs more pairs until its noise is less than the difference that counts; a difference stays one.
_ROUNDS = 12
_PART, _SECONDS = 0.05, 0.001


def medians(measure: Callable[[], tuple[float, float]], pairs: int) -> tuple[float, float]:
    """The median seconds of two things, as soon as `are_alike` of them, else of all pairs.

    Args:
        measure: takes the time of both, one after the other.
        pairs: how many are measured at least; twelve times as many at most.

    """
    taken: list[tuple[float, float]] = []
    for _ in range(_ROUNDS):
        taken += [measure() for _ in range(pairs)]
        one, other = (statistics.median(seconds) for seconds in zip(*taken, strict=True))
        if are_alike(one, other):
            break
    return one, other


def are_alike(one: float, other: float) -> bool:
    """Whether two medians differ by less than 5 % or a millisecond."""
    return abs(one - other) < max(_SECONDS, _PART * min(one, other))
