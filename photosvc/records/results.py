"""Search results as Python objects, for apps that search without HTTP.

The classes are made from the schemas of `records.photo`, with the names of fields in Python's spelling: `taken_at` for
`TakenAt`. Their types for mypy and editors are in `results.pyi`, which `tools/build_result_types.py` writes.
"""

import re
from datetime import MINYEAR, datetime
from typing import Any, Final

import msgspec
from marshmallow import Schema, fields

from photosvc.records.fields import Decimal, Timestamp
from photosvc.records.photo import FileSchema, MarkerSchema, PhotoResultSchema

_TYPES: Final = {fields.String: str, fields.Integer: int, fields.Boolean: bool, Decimal: float, Timestamp: datetime}
#: Times that may be unset.
_UNSET: Final = ("EditedAt", "CheckedAt")
_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _make(name: str, schema: type[Schema], doc: str, base: type[msgspec.Struct] = msgspec.Struct) -> Any:  # noqa: ANN401
    """Return the class for the records of a schema.

    Texts, numbers and flags that a record lacks are empty, because optional fields are left out, and fields of a newer
    version are missing until the index has renewed the stored records.
    """
    found: list[Any] = []
    names: dict[str, str] = {}
    for wire, field in schema().fields.items():
        attribute = _WORD.sub("_", wire).lower().replace("subj_", "subject_")
        names[attribute] = wire
        if isinstance(field, fields.List):
            found.append((attribute, tuple[_NESTED[field.inner.nested], ...]))
        elif isinstance(field, Timestamp):
            found.append((attribute, datetime | None if wire in _UNSET else datetime))
        else:
            kind = _TYPES[type(field)]
            found.append((attribute, kind, kind()))
    options: Any = {"frozen": True, "kw_only": True, "rename": names, "module": __name__}
    return msgspec.defstruct(name, found, bases=(base,), namespace={"__doc__": doc}, **options)


class _Times(msgspec.Struct):
    def __post_init__(self) -> None:
        """Remove the time zone of the local time, and replace zero timestamps by None."""
        times: Any = self
        msgspec.structs.force_setattr(self, "taken_at_local", times.taken_at_local.replace(tzinfo=None))
        for name in ("edited_at", "checked_at"):
            moment = getattr(self, name)
            if moment is not None and moment.year == MINYEAR:
                msgspec.structs.force_setattr(self, name, None)


_NESTED: Final[dict[Any, Any]] = {}
FoundMarker = _NESTED[MarkerSchema] = _make("FoundMarker", MarkerSchema, "A named area of the upright picture.")
FoundFile = _NESTED[FileSchema] = _make("FoundFile", FileSchema, "A file of a photo.")
FoundPhoto = _make(
    "FoundPhoto",
    PhotoResultSchema,
    "A file that a search found, with the metadata of its photo. Unknown texts are empty, unset times None.",
    _Times,
)
_DECODER: Final = msgspec.json.Decoder(tuple[FoundPhoto, ...])


def read_results(body: str | bytes) -> Any:  # noqa: ANN401 - typed in the stub
    """Return the results in the body of a search answer."""
    return _DECODER.decode(body)
