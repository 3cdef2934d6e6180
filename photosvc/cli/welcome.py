"""What `svc run` prints: what it serves from where, and what to try next."""

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from photosvc.core.folders.instance import INSTANCE_VARIABLE
from photosvc.core.folders.photos_folder import is_samples

if TYPE_CHECKING:
    from photosvc.web.current import Service


def print_welcome(service: "Service", folder: Path, address: str, *, token_file: Path, code: str = "") -> None:
    """Print the folder, the library, the address, and three things to try in another terminal.

    `code`: by which the first account is made in a browser; empty where there is one.
    """
    database = service.engine().url
    library = database.database if database.get_backend_name() == "sqlite" else database.render_as_string()
    click.echo(f"Photos    {folder}" + (" (the bundled samples)" if is_samples(folder) else ""))
    click.echo(f"Library   {library}")
    click.echo(f"Address   {address}")
    if code:
        click.echo(f"Account   none yet: open the address in a browser and type the code {code}")
    click.echo()
    click.echo("Indexing goes on beside the service. Try in another terminal:\n")
    instance = os.environ.get(INSTANCE_VARIABLE)
    if instance:
        click.echo(f"  export {INSTANCE_VARIABLE}={shlex.quote(str(service.instance))}")
    click.echo(f"  TOKEN=$(cat {shlex.quote(str(token_file.absolute()))})")
    svc = program()
    steps = (
        (f"curl -H \"X-Auth-Token: $TOKEN\" '{address}/api/v1/photos?count=3'", "search over HTTP"),
        (f"{svc} status", "what the library has, and what failed"),
        (f"{svc} search 'year:2020-2026' --count 5", "search without HTTP"),
    )
    for command, meaning in steps:
        click.echo(f"  {command}  # {meaning}")
    click.echo()


def program() -> str:
    """How to call `svc` in a shell: by its name where that finds this installation, else by its path."""
    own = Path(sys.executable).with_name("svc")
    found = shutil.which("svc")
    return "svc" if found and os.path.realpath(found) == os.path.realpath(own) else shlex.quote(str(own))
