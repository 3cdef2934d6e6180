"""A WebDAV server for foreign clients."""

from tests.helpers.fixtures import dav, dav_of_module

__all__ = ["dav", "dav_of_module"]
