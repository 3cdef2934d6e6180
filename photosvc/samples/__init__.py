"""A dozen drawn pictures with rich metadata, so that a fresh installation has something to show."""

from pathlib import Path

#: The folder of the drawn pictures.
ORIGINALS = Path(__file__).with_name("originals")
