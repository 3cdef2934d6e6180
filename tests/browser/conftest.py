"""Chromium, in which tests use the pages as people do."""

from tests.helpers.fixtures import chromium

__all__ = ["chromium"]
