"""Thumbnails made while a worker has the file open for the index."""

from pathlib import Path
from typing import BinaryIO

from photosvc.index.extract import Extraction, extract
from photosvc.media.errors import DecodeError
from photosvc.media.formats import Format
from photosvc.pictures.ahead import UsualThumbnails


def extract_and_show(path: Path, *, max_bytes: int, thumbnails: UsualThumbnails) -> tuple[Extraction, int, str]:
    """As `extract`, the number of thumbnails made, and why the cache could not be written, if it could not.

    Thumbnails that fail are made when somebody asks for them.
    """
    made, refusal = 0, ""

    def make(file: BinaryIO, row: Format, extraction: Extraction) -> None:
        nonlocal made, refusal
        if extraction.problem is None and row.media_type != "sidecar":
            try:
                made = thumbnails.make(file, row, extraction.hash, (extraction.width, extraction.height))
            except DecodeError:
                made = 0
            except OSError as error:
                refusal = str(error.strerror)

    return extract(path, max_bytes=max_bytes, then=make), made, refusal
