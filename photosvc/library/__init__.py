"""The changes that people make in the library: edits of photos and their journal, albums, and files that they send."""
