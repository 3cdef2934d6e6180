"""The records of the search as JSON text: written once when a photo changes, put together when they are sent."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from photosvc.models import File, Photo
from photosvc.records.compiled import compile_schema
from photosvc.records.file import FileSchema
from photosvc.records.photo import PhotoResultSchema, without_empty

_dump_head = compile_schema(PhotoResultSchema(exclude=("Merged", "Files")))
_dump_file = compile_schema(FileSchema())

#: What follows the head in the result of one file, and in a merged result up to its files.
_SINGLE, _MERGED = ',"Merged":false,"Files":[]}', ',"Merged":true,"Files":['


@dataclass(frozen=True, slots=True)
class Result:
    """What `PhotoResultSchema` dumps, apart from `Merged` and `Files`."""

    photo: Photo
    file: File

    @property
    def id(self) -> str:
        """`<photo_id>-<file_id>`, unique for each row."""
        return f"{self.photo.id}-{self.file.id}"

    @property
    def faces(self) -> int:
        """Number of faces marked on the file."""
        return sum(marker.type == "face" for marker in self.file.markers)


def render_head(photo: Photo, file: File) -> str:
    """The photo search result of one file (spec section 2.2) without `Merged`, `Files` and the closing brace."""
    record = without_empty(_dump_head(Result(photo, file)))
    return orjson.dumps(record).decode().removesuffix("}")


def render_file(file: File) -> str:
    """The file record (spec section 2.3)."""
    return orjson.dumps(_dump_file(file)).decode()


def join_results(heads: Sequence[str]) -> str:
    """The results of single files, separated by commas."""
    if not heads:
        return ""
    *others, last = heads
    return f"{_SINGLE},".join((*others, last + _SINGLE))  # one copy of the text, which may have megabytes


def merge_result(head: str, files: Sequence[str]) -> str:
    """The result of a photo with the records of its files."""
    return f"{head}{_MERGED}{','.join(files)}]}}"
