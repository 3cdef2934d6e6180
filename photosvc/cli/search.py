"""`svc search`: searches from a shell, and `svc duplicates`: photos that look alike."""

from dataclasses import asdict

import click
import orjson

from photosvc.cli.group import with_database
from photosvc.cli.terminal import chosen_format, format_options, print_json, print_list, require_stdout
from photosvc.library.look_alikes import Copy, find_duplicates
from photosvc.query.parser import understand
from photosvc.search.reading.hints import find_hints
from photosvc.search.reading.pages import find
from photosvc.search.reading.request import best_order, parse_request
from photosvc.search.reading.suggest import read_names
from photosvc.web.service import Service

_COLUMNS = {"UID": "UID", "TakenAtLocal": "Taken", "Title": "Title", "FileName": "File"}
_LOOK_ALIKES = {"group": "Group", "uid": "UID", "size": "Bytes", "pixels": "Pixels", "distance": "Bits", "name": "File"}


@click.command()
@click.argument("query", default="")
@click.option("--count", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Files to print.")
@click.option("--offset", type=click.IntRange(0), default=0, show_default=True, help="Files to skip.")
@click.option(
    "--order",
    default="",
    help="Sort order, as in the API; by default relevance for words alone, else added.",
)
@click.option("--album", default="", help="Only photos of the album with this UID.")
@click.option("--explain", is_flag=True, help="Print the words that mean a filter instead of results.")
@format_options
@with_database
def search(service: Service, query: str, count: int, offset: int, order: str, album: str, *, explain: bool) -> None:
    """Search the library, private photos included.

    QUERY has words and filters as in the API; without it all files are listed.
    """
    require_stdout()
    today = service.today()
    parameters = {"q": query, "count": str(count), "offset": str(offset), "s": album}
    request = parse_request({**parameters, "order": order or best_order(query, today)}, today)
    if explain:
        understood = understand(query, today)
        rows = [{"words": query[word.start : word.end], "meaning": word.meaning.text} for word in understood]
        print_list({"words": "Words", "meaning": "Meaning"}, rows)
        return
    with service.reading() as connection:
        records = orjson.loads(find(connection, request, sees_private=True).body)
        pairs = (("q", query), ("s", album))
        names = {} if records or offset else service.cached(read_names).read(connection, sees_private=True)
        hints = find_hints(connection, pairs, names, sees_private=True, today=today) if names else []
    if chosen_format() == "json":
        print_json(records)
    else:
        print_list(_COLUMNS, records)
    for hint in hints:
        click.echo(hint.label, err=True)
    if not order and request.ranked and records and chosen_format() == "table":
        click.echo("whole words first, then longer ones; --order added has the last added first", err=True)


@click.command()
@click.option(
    "--distance",
    type=click.IntRange(0, 4),
    default=4,
    show_default=True,
    help="Largest distance of two look-alikes: differing bits of 64.",
)
@format_options
@with_database
def duplicates(service: Service, distance: int) -> None:
    """List photos that look alike, in groups, the best file of each first.

    Copies in other sizes, formats and qualities look alike, and so do most pictures of one series; photos of one plain
    colour are left out. Nothing is deleted.
    """
    require_stdout()
    with service.reading() as connection:
        groups = find_duplicates(connection, distance)
    if chosen_format() == "json":
        listed = [[_shown_copy(copy) for copy in group] for group in groups]
        print_json(listed)
        return
    rows = [
        {**_shown_copy(copy), "group": number, "pixels": f"{copy.width}x{copy.height}"}
        for number, group in enumerate(groups, 1)
        for copy in group
    ]
    print_list(_LOOK_ALIKES, rows)


def _shown_copy(copy: Copy) -> dict[str, object]:
    return {name: value for name, value in asdict(copy).items() if name != "photo_id"}
