"""`svc cache`: the derived pictures, such as thumbnails."""

from typing import TYPE_CHECKING

import click

from photosvc.cli.group import LazyGroup, with_service
from photosvc.cli.terminal.prompts import confirm, yes_option
from photosvc.cli.terminal.report import format_options, print_record
from photosvc.core.texts.counted import counted

if TYPE_CHECKING:
    from photosvc.web.current import Service

_MIB = 1 << 20


@click.group(cls=LazyGroup)
def cache() -> None:
    """Look at and clear the derived pictures; all of them can be made again from the originals."""


@cache.command()
@format_options()
@with_service
def status(service: "Service") -> None:
    """How many files there are, how large they are, and how large they may become."""
    usage = service.pictures.cache.usage()
    print_record(
        {"folder": "Folder", "files": "Files", "bytes": "Bytes", "limit": "Limit"},
        {
            "folder": str(service.settings.cache),
            "files": usage.files,
            "bytes": usage.bytes,
            "limit": service.settings.cache_size * _MIB,
        },
    )


@cache.command()
@yes_option
@with_service
def clear(service: "Service", yes: bool) -> None:
    """Remove every derived picture."""
    confirm("Remove every derived picture? They are made again when a request needs them.", yes=yes)
    removed = service.pictures.cache.clear()
    click.echo(f"{counted(removed.files, 'file')} of {counted(removed.bytes, 'byte')} removed.", err=True)
