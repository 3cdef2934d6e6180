"""How answers are put together from stored JSON text: the heads of results, and the records of files."""

from collections.abc import Sequence

#: What follows the head in the result of one file, and in a merged result up to its files.
_SINGLE, _MERGED = ',"Merged":false,"Files":[]}', ',"Merged":true,"Files":['


def join_results(heads: Sequence[str]) -> str:
    """The results of single files, separated by commas."""
    if not heads:
        return ""
    *others, last = heads
    return f"{_SINGLE},".join((*others, last + _SINGLE))  # one copy of the text, which may have megabytes


def merge_result(head: str, files: Sequence[str]) -> str:
    """The result of a photo with the records of its files."""
    return f"{head}{_MERGED}{','.join(files)}]}}"
