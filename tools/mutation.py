"""Mutation tests of rights, limits, queries, edits and paths: `python -m tools.mutation [SAMPLE] [SEED]` (cosmic-ray).

In a copy of the checkout, the code is changed in small ways, one at a time, and the unit tests of each part run: one
that no test notices survives. SAMPLE changes of each part are drawn at random; 0 takes all. Prints the share that was
killed, and the survivors.
"""

import random
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
_LEFT_OUT = shutil.ignore_patterns(".venv", ".git", "instance", "build", "dist", "__pycache__", ".*_cache")
_SECONDS = 60


@dataclass(frozen=True)
class Part:
    """Modules and the tests that must notice a change of them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


PARTS = {
    "auth": Part(
        ("photosvc/auth/scopes.py", "photosvc/auth/policy.py", "photosvc/auth/principal.py"),
        (
            "tests/unit/auth/test_auth_policy.py",
            "tests/unit/auth/test_auth_scopes.py",
            "tests/unit/auth/test_auth_principal.py",
        ),
    ),
    "throttle": Part(
        ("photosvc/auth/throttle.py", "photosvc/auth/passwords.py"),
        ("tests/unit/auth/test_auth_throttle.py", "tests/unit/auth/test_auth_hashing.py"),
    ),
    "query": Part(("photosvc/query/lexer.py", "photosvc/query/parser.py"), ("tests/unit/query",)),
    "edits": Part(
        ("photosvc/library/edits.py", "photosvc/library/journal.py"),
        ("tests/app/library/test_photo_edits.py", "tests/app/library/test_photo_history.py"),
    ),
    "paths": Part(
        ("photosvc/core/files.py",),
        ("tests/unit/core/test_core_files.py", "tests/unit/core/test_core_files_keys.py"),
    ),
}


def run_part(name: str, part: Part, checkout: Path, sample: int, seed: int) -> tuple[int, int]:
    """Return the numbers of changes that were killed and that were tried; print those that survived."""
    config, session = checkout / f"{name}.toml", checkout / f"{name}.sqlite"
    tests = f"{sys.executable} -m pytest -x -q -n 0 -p no:cacheprovider {' '.join(part.tests)}"
    config.write_text(
        f"""
        [cosmic-ray]
        module-path = {list(part.modules)!r}
        timeout = {_SECONDS}
        excluded-modules = []
        test-command = {tests!r}
        [cosmic-ray.distributor]
        name = "local"
        """,
        "utf-8",
    )
    cosmic_ray = Path(sys.executable).with_name("cosmic-ray")
    for command in (["baseline", str(config)], ["init", str(config), str(session)]):
        subprocess.run([cosmic_ray, *command], cwd=checkout, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    _draw(session, sample, seed)
    subprocess.run([cosmic_ray, "exec", config, session], cwd=checkout, check=True)  # noqa: S603 - installed with us
    return _report(session)


def _draw(session: Path, sample: int, seed: int) -> None:
    """Leave so many changes in the session; none are chosen in annotations, which nothing evaluates."""
    with sqlite3.connect(session) as connection:
        columns = "module_path, start_pos_row, start_pos_col, operator_name, occurrence, job_id"
        jobs = connection.execute(f"SELECT {columns} FROM mutation_specs")  # noqa: S608 - a constant
        ids = [job[-1] for job in sorted(jobs) if "BinaryOperator_BitOr" not in job[3]]
        kept = ids if not sample else random.Random(seed).sample(ids, min(sample, len(ids)))  # noqa: S311 - no secret
        connection.execute("CREATE TEMP TABLE kept (job_id TEXT PRIMARY KEY)")
        connection.executemany("INSERT INTO kept VALUES (?)", [(job,) for job in kept])
        for table in ("mutation_specs", "work_items"):
            connection.execute(f"DELETE FROM {table} WHERE job_id NOT IN (SELECT job_id FROM kept)")  # noqa: S608


def _report(session: Path) -> tuple[int, int]:
    with sqlite3.connect(session) as connection:
        rows = connection.execute("SELECT test_outcome, diff FROM work_results ORDER BY job_id").fetchall()
    for outcome, diff in rows:
        if str(outcome).endswith("SURVIVED"):
            sys.stdout.write(f"{diff}\n")
    return sum(str(outcome).endswith("KILLED") for outcome, _ in rows), len(rows)


def main(sample: int, seed: int) -> None:
    """Run all parts and print a line for each."""
    lines = []
    with TemporaryDirectory(prefix="photosvc-mutation-") as folder:
        checkout = Path(folder, "checkout")
        shutil.copytree(ROOT, checkout, ignore=_LEFT_OUT)
        for name, part in PARTS.items():
            killed, tried = run_part(name, part, checkout, sample, seed)
            lines.append(f"{name}: {killed} of {tried} killed, {100 * killed / max(tried, 1):.0f} %")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*(given + [40, 1][len(given) :]))
