import shutil
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from photosvc.models import SCHEMA_VERSION, migrations, schema
from photosvc.models.engine import configure_engine

MIGRATIONS = Path(migrations.__file__).parent


@pytest.fixture
def engine(empty_database):
    engine = create_engine(empty_database())
    configure_engine(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def add_migration(tmp_path, monkeypatch):
    """A function that gives the package one more migration, with these attributes, and returns its revision."""
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder)
    revisions = [SCHEMA_VERSION]

    def add(oldest_code, upgrade="pass", unused=()):
        former, later = revisions[-1], f"{int(revisions[-1]) + 1:04}"
        (folder / f"versions/{later}_added.py").write_text(
            '"""Something."""\nimport sqlalchemy as sa\nfrom alembic import op\n'
            f"revision, down_revision, branch_labels, depends_on = '{later}', '{former}', None, None\n"
            f"{f'oldest_code = {oldest_code!r}' if oldest_code else ''}\n"
            f"unused = {tuple(unused)!r}\n"
            f"def upgrade():\n    {upgrade}\n"
        )
        revisions.append(later)
        return later

    monkeypatch.setattr(schema, "_MIGRATIONS", folder)
    return add
