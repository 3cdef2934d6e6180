"""Stacking: which files are one photo."""
