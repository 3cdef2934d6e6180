"""An import from a folder beside the instance of a library, without processes."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from photosvc.library.import_folder import ImportFolder
from photosvc.library.imports import ImportedFile, ImportOptions, ImportRun
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import InlinePool
from tests.helpers.library import Library, open_library


@dataclass
class Imports:
    """A library and a folder to import."""

    library: Library
    folder: Path
    reported: list[ImportedFile] = field(default_factory=list)

    def put(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (1_600_000_000, 1_600_000_000))
        return path

    def fill(self, files: Mapping[str, bytes]) -> None:
        for name, data in files.items():
            self.put(name, data)

    def run(self, **options: Any) -> ImportRun:
        with self.library.app.app_context():
            service = current_service()
            source = ImportFolder(self.folder)
            given = ImportOptions(**options)
            return ImportRun(service.engine(), service.settings, service.clock, source, given, self.reported.append)

    def import_all(self, **options: Any) -> dict[str, tuple[str, str]]:
        """Import all files; give name -> outcome, with the name among the originals or the code of the problem."""
        self.reported.clear()
        for _ in self.run(**options).portions():
            pass
        return {
            file.name: (file.outcome.value, file.problem.reason.value if file.problem else file.placed)
            for file in self.reported
        }

    def left(self) -> list[str]:
        """Names of all files and folders that are in the folder."""
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*"))

    def originals(self) -> dict[str, bytes]:
        """Name -> content of every original; the staging folder must be empty."""
        root = self.library.originals
        assert [path.name for path in root.glob(".photosvc/*")] == []
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.*") if path.is_file()}


@contextmanager
def open_imports(folder: Path, **settings: object) -> Iterator[Imports]:
    """A library with an empty folder to import; its files are read in this process."""
    library = open_library(folder / "instance", settings=settings)
    (folder / "card").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("photosvc.library.content", "photosvc.index.run"):
            patch.setattr(f"{name}.WorkerPool", InlinePool)
        yield Imports(library, folder / "card")
    library.close()
