"""Which files must be opened, and which are gone: a scan held against what is known."""

from collections.abc import Iterator
from pathlib import Path

from photosvc.index.known import Known
from photosvc.index.scan import FoundFile, Unreachable, scan
from photosvc.index.summary import IndexOptions, Summary
from photosvc.media.formats import by_extension, is_sidecar


def pick(root: Path, folder: str, known: dict[str, Known], options: IndexOptions, summary: Summary) -> list[FoundFile]:
    """What must be opened; the rest goes into the summary at once."""
    todo, copies = [], []
    for found in scan(root, folder):
        if isinstance(found, Unreachable):
            (summary.failed if found.failed else summary.skipped).append((found.name, found.reason))
        elif is_sidecar(found.name):
            summary.skipped.append((found.name, "a sidecar file"))
        elif by_extension(found.name) is None:
            summary.skipped.append((found.name, "not a picture or video by its extension"))
        else:
            before = known.get(found.name)
            if before is not None:
                before.seen = True
            if before is None or options.force or not before.is_same(found):
                todo.append(found)
            elif before.copy_of:
                copies.append((found, before))
            elif before.reason:
                summary.skipped.append((found.name, before.reason))
            else:
                summary.unchanged += 1
    # A copy is read again when what it copies is gone or changed: it may be the last one with that content.
    changed = {found.name for found in todo}
    for found, before in copies:
        model = known.get(before.copy_of)
        if model is not None and (not model.seen or before.copy_of in changed):
            todo.append(found)
        else:
            summary.skipped.append((found.name, before.reason))
    return todo


def gone(known: dict[str, Known], summary: Summary) -> list[str]:
    """Names that were there before. What lies in a folder that cannot be read now may well be there still."""
    closed = {name for name, _ in summary.failed}
    return [
        name
        for name, file in known.items()
        if not (file.seen or file.missing or name in closed or closed.intersection(_folders(name)))
    ]


def _folders(name: str) -> Iterator[str]:
    """The folders a name lies in, and `""` for the root."""
    while name:
        name = name.rpartition("/")[0]
        yield name
