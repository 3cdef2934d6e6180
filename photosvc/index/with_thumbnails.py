"""Thumbnails made while a worker has the file open for the index."""

from functools import partial
from pathlib import Path
from typing import BinaryIO

from photosvc.index.extract import Extraction, extract
from photosvc.media.errors import DecodeError
from photosvc.media.formats import Format
from photosvc.media.pixels.picture import Decoded
from photosvc.pictures.thumbnails.ahead import UsualThumbnails


def extract_and_show(path: Path, *, max_bytes: int, thumbnails: UsualThumbnails) -> tuple[Extraction, int, str]:
    """As `extract`, the number of thumbnails made, and why the cache could not be written, if it could not.

    Thumbnails that fail are tried again when a request needs them.
    """
    from photosvc.pictures.thumbnails.making import render_file

    made, refusal = 0, ""

    def make(file: BinaryIO, row: Format, extraction: Extraction, decoded: Decoded | None) -> None:
        nonlocal made, refusal
        if extraction.problem is None and row.media_type != "sidecar":
            try:
                whole = extraction.width, extraction.height
                render = partial(render_file, file, row, whole, decoded=decoded)
                made = thumbnails.make(extraction.hash, whole, render)
            except DecodeError:
                made = 0
            except OSError as error:
                refusal = str(error.strerror)

    return extract(path, max_bytes=max_bytes, then=make), made, refusal
