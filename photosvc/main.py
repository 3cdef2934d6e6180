"""The console script `svc`: the command line on an app made by `create_app`."""

from typing import TYPE_CHECKING

import click

from photosvc.cli import svc
from photosvc.cli.group import VIEWS

if TYPE_CHECKING:
    from flask import Flask


def main() -> None:
    """Run the command line; only commands that need Flask import it, and only those that show routes import views."""
    svc(prog_name="svc", obj=_create_app)


def _create_app() -> "Flask":
    from photosvc.app import create_app

    return create_app(with_views=VIEWS in click.get_current_context().meta)
