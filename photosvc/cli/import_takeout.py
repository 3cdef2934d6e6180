"""`svc import takeout`: what people entered in Google Photos."""

from pathlib import Path

import click

from photosvc.cli.group import with_database
from photosvc.cli.import_library import dry_run_option, prefer_option, run_import
from photosvc.cli.terminal import FullPath, format_options
from photosvc.exchange.library_import import Preference
from photosvc.exchange.takeout_folders import TakeoutFolders
from photosvc.web.service import Service


@click.command()
@click.argument("folders", type=FullPath(), nargs=-1, required=True, metavar="FOLDER...")
@prefer_option
@dry_run_option
@format_options
@with_database
def takeout(service: Service, folders: tuple[Path, ...], prefer: Preference, dry_run: bool) -> None:
    """Take over what people entered in Google Photos, from the unpacked parts of a Takeout in FOLDER...

    All parts are one tree. These have albums, descriptions, favorites, archived and trashed photos, people, and times
    and places that the files lack. Photos are found by their content, and must be in the library: `svc import FOLDER`
    brings them. Values that a person set here stay. A second run changes nothing.
    """
    reader = TakeoutFolders(service.engine(), folders, service.now())
    run_import(service, reader, prefer, dry_run=dry_run)
