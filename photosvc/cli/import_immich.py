"""`svc import immich`: what people entered in Immich, and its originals that are not here."""

from pathlib import Path

import click

from photosvc.cli.group import with_database
from photosvc.cli.import_library import FolderMap, dry_run_option, run_import
from photosvc.cli.imports import index_imported
from photosvc.cli.terminal import FullPath, format_options
from photosvc.exchange.immich_api import ImmichServer
from photosvc.exchange.immich_originals import ImmichOriginals
from photosvc.exchange.imported import Report
from photosvc.exchange.library_import import Preference
from photosvc.exchange.remote import RemoteApi, read_key
from photosvc.web.service import Service


@click.command()
@click.argument("url")
@click.option(
    "--key-file", type=FullPath(), required=True,
    help="A file whose first line is an API key: in Immich, Account Settings > API Keys.",
)  # fmt: skip
@click.option("--download", is_flag=True, help="Also bring the originals that are not here, and index them.")
@click.option(
    "--map", "folders", type=FolderMap(), multiple=True, metavar="THEIRS=OURS",
    help="A folder of Immich and the same one below our originals, such as /mnt/photos=family.",
)  # fmt: skip
@click.option(
    "--prefer", type=click.Choice(["ours", "theirs"]), default="ours", show_default=True,
    help="Which value stays if a person set another one here.",
)  # fmt: skip
@dry_run_option
@format_options
@with_database
def immich(
    service: Service,
    url: str,
    key_file: Path,
    download: bool,
    folders: tuple[tuple[str, str], ...],
    prefer: Preference,
    dry_run: bool,
) -> None:
    """Take over what people entered in Immich, from the API of its server at URL, such as https://photos.example.com.

    Descriptions, dates, positions, ratings, tags, favorites, archived and locked photos, named people with their faces,
    stacks and albums come from the account to which the key belongs. Photos are found by their content, those of
    external libraries by their paths with --map. Values that a person set here stay. A second run changes nothing.
    """
    api = RemoteApi(f"{url.rstrip('/').removesuffix('/api')}/api", {"x-api-key": read_key(key_file)}, service.clock)
    report = Report()
    server = ImmichServer(api, [(theirs.strip("/"), ours) for theirs, ours in folders])
    if download:
        originals = ImmichOriginals(
            service.engine(), service.settings, service.clock, api, server.SOURCE, lambda: index_imported(service),
            dry_run=dry_run, report=report,
        )  # fmt: skip
        server.bring = originals.bring
    run_import(service, server, prefer, dry_run=dry_run, report=report)
