"""Checking a library: originals against their hashes, search rows against the library, and cached thumbnails."""
