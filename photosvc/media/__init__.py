"""What is inside a file: formats, pixels, metadata, colours."""
