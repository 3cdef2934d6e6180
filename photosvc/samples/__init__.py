"""A dozen drawn pictures with rich metadata, served when no folder of originals is set."""

from pathlib import Path

#: The folder of the drawn pictures.
ORIGINALS = Path(__file__).with_name("originals")
