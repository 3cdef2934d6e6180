"""Counts in sentences."""


def counted(number: int, what: str, many: str = "") -> str:
    """The number with what is counted: `1 file`, `2,000 files`; `many` is a plural that is not `what` with an s."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def which(number: int, one: str, many: str) -> str:
    """The form of a word that goes with the number."""
    return one if number == 1 else many
