"""`svc search`: searches from a shell, and `svc duplicates`: photos that look alike."""

from typing import TYPE_CHECKING

import click

from photosvc.cli.group import with_database
from photosvc.cli.terminal import chosen_format, format_options, print_json, print_list, require_stdout

if TYPE_CHECKING:
    from photosvc.library.look_alikes import Copy
    from photosvc.search.reading.explain import Explanation
    from photosvc.web.current import Service

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
@click.option("--explain", is_flag=True, help="Print the plan of the search instead of results.")
@format_options
@with_database
def search(service: "Service", query: str, count: int, offset: int, order: str, album: str, *, explain: bool) -> None:
    """Search the library, private photos included.

    QUERY has words and filters as in the API; without it all files are listed.
    """
    import orjson

    from photosvc.search.reading.explain import explain as explain_search
    from photosvc.search.reading.hints import find_hints
    from photosvc.search.reading.pages import find
    from photosvc.search.reading.request import best_order, parse_request
    from photosvc.search.reading.suggest import read_names

    require_stdout()
    if explain and chosen_format() not in {"table", "json"}:
        raise click.UsageError("--explain prints text or, with --json, JSON")
    today = service.today()
    given = {"q": query, "count": str(count), "offset": str(offset), "s": album}
    request = parse_request({**given, "order": order or best_order(query, today)}, today)
    with service.reading() as connection:
        if explain:
            explanation = explain_search(connection, request, query, sees_private=True)
        else:
            records = orjson.loads(find(connection, request, sees_private=True).body)
            pairs = (("q", query), ("s", album))
            names = {} if records or offset else service.kept(read_names).read(connection, sees_private=True)
            hints = find_hints(connection, pairs, names, sees_private=True, today=today) if names else []
    if explain:
        _print_explanation(explanation, chosen_format())
    elif chosen_format() == "json":
        print_json(records)
    else:
        print_list(_COLUMNS, records)
    for hint in [] if explain else hints:
        click.echo(hint.label, err=True)
    if not (explain or order) and request.ranked and records and chosen_format() == "table":
        click.echo("whole words first, then longer ones; --order added has the last added first", err=True)


def _print_explanation(explanation: "Explanation", output: str) -> None:
    from dataclasses import asdict

    if output == "json":
        print_json(asdict(explanation))
        return
    counts = [f"{count.found} found, sorted up to {count.limit}: {count.conditions}" for count in explanation.counts]
    for heading, lines in (
        *([("Understood", explanation.understood)] if explanation.understood else []),
        ("Parsed", explanation.parsed),
        ("Resolved", explanation.resolved),
        ("Counted", counts or ["nothing"]),
        *([("Ranked", explanation.ranked)] if explanation.ranked else []),
        ("Plan", [explanation.plan]),
        ("SQL", explanation.sql.splitlines()),
        ("Run by the database as", explanation.steps),
    ):
        click.echo(heading)
        for line in lines:
            click.echo(f"  {line.rstrip()}")


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
        listed = [[_shown_copy(copy) for copy in group] for group in groups]
        print_json(listed)
        return
    rows = [
        {**_shown_copy(copy), "group": number, "pixels": f"{copy.width}x{copy.height}"}
        for number, group in enumerate(groups, 1)
        for copy in group
    ]
    print_list(_LOOK_ALIKES, rows)


def _shown_copy(copy: "Copy") -> dict[str, object]:
    from dataclasses import asdict

    return {name: value for name, value in asdict(copy).items() if name != "photo_id"}
