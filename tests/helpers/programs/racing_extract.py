"""An `extract` for workers during which files change, as other programs may change them."""

import os
from pathlib import Path

from photosvc.index import extract as real
from photosvc.index.extract import Extraction


def extract(path: Path, *, max_bytes: int) -> Extraction:
    """The real `extract`, but the file is changed or removed after it was opened."""
    check = real._check_unchanged

    def interfere(path: Path, before: os.stat_result) -> None:
        if path.name == "changing.jpg":
            os.utime(path, (1, 1))
        elif path.name == "vanishing.jpg":
            path.unlink()
        check(path, before)

    real._check_unchanged = interfere
    try:
        return real.extract(path, max_bytes=max_bytes)
    finally:
        real._check_unchanged = check
