"""What a backup holds: the names in the archive, and the files of the instance folder that they stand for."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

#: The names of the manifest and of the database in the archive.
MANIFEST: Final = "manifest.json"
DATABASE: Final = "database.sqlite"
#: The folder of the archive that files of the instance folder are in.
INSTANCE: Final = "instance"
#: Files of the instance folder: settings, the folder of originals that `svc run` remembers, the service key, and the
#: key that is to replace it.
FILES: Final = ("config.py", "photos_folder", "secret_key", "secret_key.next")
SIGNING_KEYS: Final = "signing_keys"
#: Pages of the operator's own.
TEMPLATES: Final = "templates"
#: The folders of the instance folder that files may be in.
FOLDERS: Final = (SIGNING_KEYS, TEMPLATES)
#: Bytes of a file of the instance folder, and of the manifest.
MOST_BYTES: Final = 1 << 20
#: Files that an archive may hold.
MOST_FILES: Final = 1000

_SIGNING_KEY = re.compile(rf"{SIGNING_KEYS}/[0-9]{{1,9}}\.json\Z", re.ASCII)
_TEMPLATE = re.compile(rf"{TEMPLATES}(/[A-Za-z0-9_][A-Za-z0-9_.-]{{0,99}}){{1,5}}\Z")


def instance_files(instance: Path) -> Iterator[str]:
    """The names, below the instance folder, of the files to back up that exist."""
    yield from (name for name in FILES if (instance / name).is_file())
    for folder in FOLDERS:
        for path in sorted((instance / folder).rglob("*")):
            name = path.relative_to(instance).as_posix()
            if is_instance_file(name) and path.is_file():
                yield name


def is_instance_file(name: str) -> bool:
    """Whether a backup may have a file of this name below the instance folder."""
    return name in FILES or bool(_SIGNING_KEY.match(name) or _TEMPLATE.match(name))
