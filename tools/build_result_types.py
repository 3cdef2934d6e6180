"""Write the types of the results of `PhotoService.search` for mypy and editors: `photosvc/records/results.pyi`.

    python -m tools.build_result_types

The classes themselves are made from the schemas of the records when photosvc starts, so their fields have no types in
the source.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from marshmallow import Schema

from photosvc.records import results
from photosvc.records.photo import FileSchema, MarkerSchema, PhotoResultSchema

STUB: Final = Path(results.__file__).with_suffix(".pyi")
_CLASSES: Final[tuple[tuple[type[msgspec.Struct], type[Schema]], ...]] = (
    (results.FoundMarker, MarkerSchema),
    (results.FoundFile, FileSchema),
    (results.FoundPhoto, PhotoResultSchema),
)
_BEGINNING: Final = """\
# Written by tools/build_result_types.py from the schemas in `photo.py`.
from datetime import datetime

import msgspec
"""
_END: Final = "\ndef read_results(body: str | bytes) -> tuple[FoundPhoto, ...]: ...\n"


def make_stub() -> str:
    """Return the text of the stub."""
    return _BEGINNING + "".join("\n" + "\n".join(_lines(*pair)) + "\n" for pair in _CLASSES) + _END


def _lines(kind: type[msgspec.Struct], schema: type[Schema]) -> Iterator[str]:
    yield f"class {kind.__name__}(msgspec.Struct, frozen=True, kw_only=True):"
    described = schema().fields
    for field in msgspec.structs.fields(kind):
        yield f"    {field.name}: {_spelled(field.type)}" + ("" if field.required else " = ...")
        if text := described[field.encode_name].metadata.get("description"):
            yield f'    """{text}"""'


def _spelled(kind: Any) -> str:  # noqa: ANN401 - a class, or a type with arguments
    if kind == datetime | None:
        return "datetime | None"
    inner = get_args(kind)
    return f"tuple[{inner[0].__name__}, ...]" if inner else str(kind.__name__)


if __name__ == "__main__":
    STUB.write_text(make_stub(), encoding="utf-8")
