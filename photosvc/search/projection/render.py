"""The records of the search as JSON text, rendered when a photo changes; `search.record_text` completes them."""

from dataclasses import dataclass

import orjson

from photosvc.models import File, Photo
from photosvc.records.compiled import compile_schema
from photosvc.records.file import FileSchema
from photosvc.records.photo import PhotoResultSchema, without_empty

_dump_head = compile_schema(PhotoResultSchema(exclude=("Merged", "Files")))
_dump_file = compile_schema(FileSchema())


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
