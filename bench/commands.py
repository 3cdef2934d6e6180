"""Wall and processor time of each command that only reads: `python -m bench.commands FOLDER [COMMAND…]`.

FOLDER holds a library made by `bench.libraries.library`. Each command runs as a process of its own, `--rounds` times,
in turn with all others; the figures are medians. With `--beside CHECKOUT`, the folder of another revision, each command
runs by that one too, directly before; its columns are the first. The last line is the least that such a process does:
Python with Flask, SQLAlchemy and Flask-SQLAlchemy.
"""

import argparse
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

HERE = Path(__file__).parents[1]
_GROUPS = "albums auth cache clients db deploy keys links shares show trash users"
#: Commands that need no app.
_HELP = ("--version", "--help", *(f"{group} --help" for group in _GROUPS.split()), "status --help", "search --help")
_READING = (
    "status",
    "search",
    "search family",
    "search family --explain",
    "albums ls",
    "users ls",
    "auth ls",
    "clients ls",
    "links ls",
    "shares ls",
    "trash ls",
    "keys ls",
    "audit",
    "cluster",
    "cache status",
    "db current",
    "db upgrade --dry-run",
    "show config",
    "show sizes",
    "show filters",
    "show formats",
    "show scopes",
    "show policy",
    "deploy show nginx",
)
#: Commands that compare or count the whole library, or all of the schema.
_WHOLE = ("db check", "duplicates")
#: Python keeps compiled modules, as pip does when it installs them; some shells and containers forbid it.
COMPILED: Final = {"PYTHONDONTWRITEBYTECODE": ""}
_COMMAND = "from photosvc.main import main; main()"
_LEAST = "import flask, sqlalchemy.orm, flask_sqlalchemy"


class Cost(NamedTuple):
    """The times of one process."""

    wall: float
    processor: float


def run(arguments: list[str], checkout: Path, folder: Path) -> Cost:
    """Run Python with these arguments on the code of a checkout.

    Raises:
        RuntimeError: it failed.
    """
    environ = {**os.environ, **COMPILED, "PYTHONPATH": str(checkout), "PHOTOSVC_INSTANCE": str(folder)}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=checkout, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{arguments} by {checkout} ended with {process.returncode}")
    return Cost(wall, usage.ru_utime + usage.ru_stime)


def main(folder: Path, checkouts: list[Path], commands: list[str], rounds: int) -> None:
    lines = {f"svc {words}": ["-c", _COMMAND, *words.split()] for words in commands}
    lines["Flask, SQLAlchemy and Flask-SQLAlchemy alone"] = ["-c", _LEAST]
    found = defaultdict[tuple[str, Path], list[Cost]](list)
    for number in range(rounds + 1):
        for name, arguments in lines.items():
            for checkout in checkouts:
                cost = run(arguments, checkout, folder.resolve())
                if number:  # the first round compiles modules, and reads files from the disk
                    found[name, checkout].append(cost)
    print(f"| milliseconds |{' wall | processor |' * len(checkouts)}")
    print(f"|---|{'---|---|' * len(checkouts)}")
    for name in lines:
        costs = [zip(*found[name, checkout], strict=True) for checkout in checkouts]
        cells = [f"{median(values) * 1000:.0f}" for both in costs for values in both]
        print(f"| `{name}` | {' | '.join(cells)} |" if name.startswith("svc") else f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("command", nargs="*", help="such as 'users ls'; all by default")
    parser.add_argument("--beside", type=Path, help="the folder of another revision")
    parser.add_argument("--rounds", type=int, default=10)
    given = parser.parse_intermixed_args()
    both = [*([given.beside.resolve()] if given.beside else []), HERE]
    main(given.folder, both, given.command or [*_HELP, *_READING, *_WHOLE], given.rounds)
