"""Records as YAML 1.2 in blocks; all texts are quoted, so that none is taken for a number, a date or a tag."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

#: Characters that YAML does not allow as they are, or takes for the end of a line.
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def yaml_text(record: dict[str, Any]) -> str:
    """An object of JSON as YAML, its members in their order."""
    return "\n".join(_lines(record, 0)) + "\n"


def _lines(value: dict[str, Any] | list[Any], depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _entry(f"{indent}{name}:", member, depth)
    else:
        for item in value:
            yield from _entry(f"{indent}-", item, depth)


def _entry(begin: str, value: Any, depth: int) -> Iterator[str]:  # noqa: ANN401
    if isinstance(value, dict | list) and value:
        yield begin
        yield from _lines(value, depth + 1)
    else:
        yield f"{begin} {_UNPRINTABLE.sub(_escaped, json.dumps(value, ensure_ascii=False))}"


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
