"""The console script `svc`: the command line on an app made by `create_app`."""

import gc
from typing import TYPE_CHECKING

import click

from photosvc.cli import svc
from photosvc.cli.group import VIEWS

if TYPE_CHECKING:
    from flask import Flask


def main() -> None:
    """Run the command line. Only commands that need Flask import it; only commands that show routes import views."""
    # Imports and mapped tables make 100,000 objects that live as long as the process. Python's garbage collector would
    # look through them again and again, for a fifth of a short command's time. It starts when the app is made.
    gc.disable()
    svc(prog_name="svc", obj=_create_app)


def _create_app() -> "Flask":
    try:
        from photosvc.app import create_app

        return create_app(with_views=VIEWS in click.get_current_context().meta)
    finally:
        gc.freeze()
        gc.enable()
