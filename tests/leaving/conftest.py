"""Chromium for the pages without scripts."""

from tests.helpers.fixtures import chromium

__all__ = ["chromium"]
