"""Colours of pictures."""
