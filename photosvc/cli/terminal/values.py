"""Kinds of values on the command line: paths in which `~` is the home folder, and lifetimes."""

import re
from pathlib import Path
from typing import Any

import click

from photosvc.core.paths import full_path
from photosvc.core.texts.durations import parse_duration


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


class Lifetime(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Seconds, as a whole number or with a unit: `30d`, `12h`."""

    name = "lifetime"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401
        """The seconds; which ones are allowed is checked elsewhere."""
        text = str(value).strip()
        if re.fullmatch(r"-?[0-9]{1,12}", text, re.ASCII):
            return int(text)
        seconds = parse_duration(text.lower())
        if seconds is None:
            self.fail(f"{value!r} is neither a number of seconds nor a time such as 12h, 30d or 1y", param, ctx)
        return seconds
