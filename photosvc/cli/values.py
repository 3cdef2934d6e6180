"""Kinds of values on the command line: paths in which `~` is the home folder."""

from pathlib import Path
from typing import Any

import click

from photosvc.core.paths import full_path


class FullPath(click.Path):
    """A path, made absolute; `~` is expanded where no shell did it, as in `--photos="~/x"`."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - those of click
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ANN401
        """The absolute path."""
        try:
            path = full_path(value)
        except ValueError as error:
            self.fail(f"{value!r} is not valid: {error}", param, ctx)
        super().convert(path, param, ctx)
        return path
