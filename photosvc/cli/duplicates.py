"""`svc duplicates`: photos that look alike."""

from typing import TYPE_CHECKING

import click

from photosvc.cli.group import with_database
from photosvc.cli.terminal import chosen_format, format_options, print_json, print_list, require_stdout

if TYPE_CHECKING:
    from photosvc.library.look_alikes import Copy
    from photosvc.web.current import Service


_COLUMNS = {"group": "Group", "uid": "UID", "size": "Bytes", "pixels": "Pixels", "distance": "Bits", "name": "File"}


@click.command()
@click.option(
    "--distance",
    type=click.IntRange(0, 6),
    default=6,
    show_default=True,
    help="Largest distance of two look-alikes: differing bits of 64.",
)
@format_options()
@with_database
def duplicates(service: "Service", distance: int) -> None:
    """List photos that look alike, in groups, the best file of each first.

    Copies in other sizes, formats and qualities look alike, and so do most pictures of one series; photos of one plain
    colour are left out. Nothing is deleted.
    """
    from photosvc.library.look_alikes import find_duplicates

    require_stdout()
    with service.reading() as connection:
        groups = find_duplicates(connection, distance)
    if chosen_format() == "json":
        listed = [[_shown(copy) for copy in group] for group in groups]
        print_json(listed)
        return
    rows = [
        {**_shown(copy), "group": number, "pixels": f"{copy.width}x{copy.height}"}
        for number, group in enumerate(groups, 1)
        for copy in group
    ]
    print_list(_COLUMNS, rows)


def _shown(copy: "Copy") -> dict[str, object]:
    from dataclasses import asdict

    return {name: value for name, value in asdict(copy).items() if name != "photo_id"}
