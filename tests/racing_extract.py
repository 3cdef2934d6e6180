"""What a worker runs in the test of files that change under its hands."""

import os
from pathlib import Path

from photosvc.index import extract as real
from photosvc.index.extract import Extraction


def extract(path: Path, *, max_bytes: int) -> Extraction:
    """As the real one, but somebody writes to or removes the file after it was opened."""
    check = real._check_unchanged

    def meddle(path: Path, before: os.stat_result) -> None:
        if path.name == "changing.jpg":
            os.utime(path, (1, 1))
        elif path.name == "vanishing.jpg":
            path.unlink()
        check(path, before)

    real._check_unchanged = meddle
    try:
        return real.extract(path, max_bytes=max_bytes)
    finally:
        real._check_unchanged = check
