"""Staging: the one door through which bytes get into the originals.

A file is received in a hidden folder on the file system of the originals, and gets its name there when all of it has
arrived. If a process ends before that, even by a power cut, the originals stay as they were.
"""

from photosvc.library.staging.folder import Staging
from photosvc.library.staging.part import Part

__all__ = ["Part", "Staging"]
