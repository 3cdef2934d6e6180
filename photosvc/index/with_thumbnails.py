"""Thumbnails made while a worker has the file open for the index."""

from pathlib import Path
from typing import BinaryIO

from photosvc.index.extract import Extraction, extract
from photosvc.media.errors import DecodeError
from photosvc.media.formats import Format
from photosvc.pictures.ahead import UsualThumbnails


def extract_and_show(path: Path, *, max_bytes: int, thumbnails: UsualThumbnails) -> tuple[Extraction, int]:
    """As `extract`, and the number of thumbnails made; what fails is made when somebody asks for it."""
    made = 0

    def make(file: BinaryIO, row: Format, extraction: Extraction) -> None:
        nonlocal made
        if extraction.problem is None and row.media_type != "sidecar":
            try:
                made = thumbnails.make(file, row, extraction.hash, (extraction.width, extraction.height))
            except (DecodeError, OSError):
                made = 0

    return extract(path, max_bytes=max_bytes, then=make), made
