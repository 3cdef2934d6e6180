"""The rows of the search tables: rendered from photos, written, and compared with stored ones."""
