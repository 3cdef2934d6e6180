"""The contents of files: formats, pixels, metadata, colours."""
