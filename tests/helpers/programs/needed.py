"""Programs and packages that tests need: without them a test is skipped, but fails where CI promises to have them."""

import os
import shutil
import warnings
from importlib import import_module
from typing import Any, NoReturn

import pytest


def is_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def missing(reason: str) -> NoReturn:
    """Skip the test; in CI, let it fail."""
    if is_ci():
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def require(*programs: str) -> None:
    """Skip the test without these programs; tests name them by the marker `needs`."""
    if absent := [name for name in programs if shutil.which(name) is None]:
        missing(f"not installed: {', '.join(absent)}")


def package(name: str) -> Any:
    """The module of a package of the extras; without it, the test or its module is skipped."""
    if not is_ci():
        return pytest.importorskip(name, reason=f"{name} is not installed")
    with warnings.catch_warnings():  # as `importorskip` does
        warnings.simplefilter("ignore")
        return import_module(name)
