"""Thumbnails: their sizes, how they are made, on demand and ahead, and whether they are right."""
