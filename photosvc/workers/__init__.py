"""Worker processes for the decoding of untrusted files."""
