"""Backups: one archive with the database, the keys and the configuration, and the way back from it."""
