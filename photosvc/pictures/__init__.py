"""The files that the service sends: thumbnails and their cache, originals, converted videos, zip archives."""
