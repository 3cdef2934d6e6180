"""Backups: archives of the database, the keys and the configuration, and their restoration."""
