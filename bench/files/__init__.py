"""Benchmarks of files: thumbnails, videos, WebDAV."""
