"""An `extract` for workers that decoders kill, as damaged files do with the decoders of other programs."""

import os
import signal
from pathlib import Path

from photosvc.core.problems import Reason, UnreadableFileError
from photosvc.index import extract as real
from photosvc.index.extract import Extraction


def extract(path: Path, *, max_bytes: int, decode: bool = True) -> Extraction:
    """The real `extract`, but decoding some files kills the worker."""
    if decode and path.name.startswith("deadly"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if path.name.startswith("unreadable"):
        raise UnreadableFileError(Reason.UNREADABLE, "EIO")
    if path.name.startswith("mistaken"):
        raise TypeError("no such argument")
    return real.extract(path, max_bytes=max_bytes, decode=decode)
