"""Owners of leases and jobs are drawn at random: containers of one image share host names and process numbers."""

import ast
import re
from pathlib import Path

import pytest

import photosvc

PACKAGE = Path(photosvc.__file__).parent
#: Functions whose results are equal in two containers of one image.
DERIVED = frozenset({"getpid", "getppid", "gethostname", "getfqdn", "getnode", "uuid1", "node", "uname", "get_ident"})
#: Modules without any of these words need not be parsed.
WORDS = re.compile(rf"\b(?:{'|'.join(DERIVED)})\b")
#: Uses that do not identify a process to other processes.
SAFE = {
    "api/monitoring.py _workers: getpid": "a process reads its own numbers in /proc",
    "api/monitoring.py _workers: getppid": "a process reads those of its parent's children in /proc",
    "storage/bucket.py _store: getpid": "the first use after a fork makes a client of its own",
    "cli/run.py _start_indexer: getpid": "a parent tells its child whom to watch",
    "cli/index.py _end_with.wait: getppid": "a child asks whether its parent lives",
    "cli/index.py _end_with.wait: getpid": "a process ends itself",
    "core/machine.py host_name: gethostname": "a name for people; identifiers of machines are drawn, it only ends them",
    "core/machine.py ByteLocks._file: getpid": "the first use after a fork opens a file of its own",
    "web/transactions.py Commits.number: getpid": "the first use after a fork opens a connection of its own",
    "web/request_counts.py RequestCounts.add: getpid": "the first use after a fork opens a file of its own",
    "workers/child.py _end_with: getppid": "a worker ends with its parent",
    "workers/process.py Worker.__init__: getpid": "a parent tells its child whom to watch",
}


def last_name(called):
    """The last part of a dotted name; empty for other expressions."""
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def uses(tree):
    """Give `function: name` for each call of a function of `DERIVED` in a module."""

    def walk(node, where):
        for child in ast.iter_child_nodes(node):
            inside = where
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inside = f"{where}.{child.name}".lstrip(".")
            name = last_name(child.func) if isinstance(child, ast.Call) else ""
            if name in DERIVED:
                yield f"{where or 'module'}: {name}"
            yield from walk(child, inside)

    return set(walk(tree, ""))


def test_no_process_is_known_to_others_by_its_number_or_its_machine():
    found = {
        f"{path.relative_to(PACKAGE)} {use}"
        for path in PACKAGE.rglob("*.py")
        if WORDS.search(text := path.read_text())
        for use in uses(ast.parse(text))
    }
    assert not (new := sorted(found - set(SAFE))), (
        f"{new}: two containers have the same numbers and names. Draw an owner with `secrets.token_hex`, as "
        "`index/lease.py` does; list the use in SAFE if no other process decides by it."
    )
    assert not (gone := sorted(set(SAFE) - found)), f"{gone}: not used any more; remove it from this file."


@pytest.mark.parametrize(
    ("code", "use"),
    [
        ("import os\nowner = f'{os.uname().nodename}:{os.getpid()}'", {"module: uname", "module: getpid"}),
        (
            "from socket import gethostname\nclass A:\n    def owner(self):\n        return gethostname()",
            {"A.owner: gethostname"},
        ),
    ],
)
def test_a_new_use_is_found(code, use):
    assert uses(ast.parse(code)) == use
