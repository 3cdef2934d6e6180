"""The console script `svc`: the command line on top of photosvc standing alone."""

from typing import TYPE_CHECKING

from photosvc.cli import svc

if TYPE_CHECKING:
    from flask import Flask


def main() -> None:
    """Run the command line; Flask is imported by the commands that need it."""
    svc(prog_name="svc", obj=_standing_alone)


def _standing_alone() -> "Flask":
    from photosvc.app import create_app

    return create_app()
