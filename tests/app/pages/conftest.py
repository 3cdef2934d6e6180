"""Browsers that open the pages of a library with users."""

from tests.helpers.fixtures import alice, ann, browser

__all__ = ["alice", "ann", "browser"]
