"""photosvc: a photo library as a small Flask service."""

__version__ = "0.1.0"
