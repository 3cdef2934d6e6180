"""The import graph of the package's files, and the names that packages import when they are used."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import grimp
import pytest
from sqlalchemy import Table

import photosvc.models
from photosvc.models import Base
from tests.helpers.programs.forks import SURROUNDINGS

MODELS = "photosvc.models"


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("photosvc", cache_dir=None)


def test_no_files_import_each_other_in_a_cycle(graph):
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    in_cycles = {
        module
        for module, imported in imports.items()
        if any(module in graph.find_upstream_modules(other) for other in imported)
    }
    assert in_cycles == set()


def test_the_names_of_the_tables_have_types():
    stub = ast.parse(Path(photosvc.models.__file__).with_suffix(".pyi").read_text())
    typed = {(line.module, alias.name, alias.asname) for line in stub.body for alias in line.names}
    assert typed == {(f"{MODELS}.{module}", name, name) for name, module in photosvc.models._MODULES.items()}
    assert {name for name in photosvc.models._MODULES if not hasattr(photosvc.models, name)} == set()
    with pytest.raises(AttributeError, match=r"module 'photosvc\.models' has no attribute 'Pictures'"):
        _ = photosvc.models.Pictures


def test_a_module_with_tables_imports_those_to_which_its_tables_refer(graph):
    # A session sorts tables by their references, and fails at a table that was not imported.
    of_tables = {}
    for name in {f"{MODELS}.{module}" for module in photosvc.models._MODULES.values()}:
        module = importlib.import_module(name)
        mapped = [one.__table__ for one in vars(module).values() if getattr(one, "__module__", "") == name
                  and hasattr(one, "__table__")]  # fmt: skip
        plain = [one for one in vars(module).values() if isinstance(one, Table)]
        of_tables |= dict.fromkeys((*mapped, *plain), name)
    assert set(of_tables) == set(Base.metadata.tables.values())
    missing = {
        (name, key.column.table.name)
        for table, name in of_tables.items()
        for key in table.foreign_keys
        if of_tables[key.column.table] not in {name, *graph.find_upstream_modules(name)}
    }
    assert missing == set()


@pytest.mark.slow
def test_the_metadata_of_the_base_have_all_tables_and_indexes():
    program = (
        f"from {MODELS} import Base\n"
        "for table in Base.metadata.tables.values(): print(table.name, *sorted(index.name for index in table.indexes))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=SURROUNDINGS, check=True)
    found = {name: indexes for name, *indexes in map(str.split, done.stdout.splitlines())}
    tables = Base.metadata.tables.values()
    assert found == {table.name: sorted(index.name for index in table.indexes) for table in tables}
    assert len(found) == 45
    assert "uq_photosvc_jobs_waiting" in found["photosvc_jobs"]
