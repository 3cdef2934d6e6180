"""Index runs, imports, files that failed, and the trash."""
