"""Uploads: files that accounts send wait in the staging folder, and are then added to the originals."""
