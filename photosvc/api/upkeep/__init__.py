"""What keeps a library in order: index runs, imports, the trash, and files that could not be read."""
