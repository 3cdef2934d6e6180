"""Folders that a service owns or is given, and who may read them."""
