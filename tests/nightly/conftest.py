"""Chromium, a WebDAV server and a small file system."""

from tests.helpers.fixtures import chromium, dav, dav_of_module

__all__ = ["chromium", "dav", "dav_of_module"]
