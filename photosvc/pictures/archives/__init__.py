"""Originals as one zip archive."""
