"""Exif: TIFF directories, GPS positions and MakerNotes."""
