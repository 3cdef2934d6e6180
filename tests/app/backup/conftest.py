"""A library with an account and its backup."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import select

from photosvc.models import User
from photosvc.models.engine import begin_write
from tests.helpers.factories.accounts import add_user
from tests.helpers.library import Library, call_svc, open_library


@dataclass
class BackedUp:
    """A closed library and an archive of it."""

    instance: Path
    archive: Path

    def key(self) -> str:
        return (self.instance / "secret_key").read_text()


def accounts(instance: Path, **settings: object) -> list[str]:
    """The names of the accounts of a library."""
    library = open_library(instance, upgrade=False, settings=settings)
    with library.session() as session:
        names = list(session.scalars(select(User.name).order_by(User.name)))
    library.close()
    return names


def make(folder: Path, *names: str, **settings: object) -> Library:
    """A closed library with these accounts, settings and a signing key."""
    library = open_library(folder, settings=settings)
    with library.session() as session:
        begin_write(session)
        for name in names:
            add_user(session, name)
    library.app.test_client().get("/api/v1/status")  # the database belongs to its key from now on
    library.app.test_client().get("/.well-known/jwks.json")
    library.close()
    return library


@pytest.fixture(scope="session")
def _made_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("backed-up")
    library = make(folder / "made", "alice")
    (library.instance / "config.py").write_text("PHOTOSVC_SITE_NAME = 'ours'\n")
    done = call_svc("backup", str(folder / "archive.zip"), instance=library.instance)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def backed_up(_made_once, tmp_path):
    shutil.copytree(_made_once, tmp_path, dirs_exist_ok=True)
    return BackedUp(tmp_path / "made", tmp_path / "archive.zip")
