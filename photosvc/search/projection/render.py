"""Records of the search as JSON text, dumped once when a photo changes."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from photosvc.models import File, Photo
from photosvc.records.compiled import compile_schema
from photosvc.records.file import FileSchema
from photosvc.records.photo import OPTIONAL, PhotoResultSchema

_dump_result, _dump_file = compile_schema(PhotoResultSchema()), compile_schema(FileSchema())

_UNMERGED = '"Merged":false,"Files":[]}'


@dataclass(frozen=True, slots=True)
class Result:
    """What `PhotoResultSchema` dumps."""

    photo: Photo
    file: File
    merged: bool = False
    files: Sequence[File] = ()

    @property
    def id(self) -> str:
        """`<photo_id>-<file_id>`, unique for each row."""
        return f"{self.photo.id}-{self.file.id}"

    @property
    def faces(self) -> int:
        """Number of faces marked on the file."""
        return sum(marker.type == "face" for marker in self.file.markers)


def render_result(photo: Photo, file: File) -> str:
    """The photo search result of one file, as JSON text (spec section 2.2)."""
    record = _dump_result(Result(photo, file))
    for name in OPTIONAL:
        if not record[name]:
            del record[name]
    return orjson.dumps(record).decode()


def render_file(file: File) -> str:
    """The file record, as JSON text (spec section 2.3)."""
    return orjson.dumps(_dump_file(file)).decode()


def merge_texts(result: str, files: Sequence[str]) -> str:
    """The result of a photo with its files, from stored texts: `Merged` and `Files` stand last in the record."""
    return f'{result.removesuffix(_UNMERGED)}"Merged":true,"Files":[{",".join(files)}]}}'
