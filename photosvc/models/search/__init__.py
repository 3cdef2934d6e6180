"""The search tables: derived data, one row for each file, written by `search.projection` alone."""
