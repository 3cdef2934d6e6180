"""Later versions of photosvc: copies of the package with further migrations, and their servers and commands."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.helpers.library import SURROUNDINGS
from tests.helpers.programs.forks import ROOT
from tests.helpers.programs.ports import free_port, wait_for

_MIGRATIONS = "models/migrations/versions"
_VERSION = '__version__ = "'
APP = "photosvc.app:create_app()"
#: Becomes gunicorn with the socket of this number, as systemd starts it.
_AT_SOCKET = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.executable, [sys.executable, "-m", "gunicorn", *sys.argv[2:]])
"""
#: Folders of the package that versions share.
_LARGE = ("data", "samples")


class Version:
    """A version of the package in a folder.

    Args:
        folder: the parent of the package.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def schema(self) -> str:
        """The revision of its newest migration."""
        return max((self.folder / "photosvc" / _MIGRATIONS).glob("[0-9]*.py")).name.partition("_")[0]

    def next(
        self, folder: Path, *, oldest_code: str, upgrade: str, change: Callable[[Path], None] | None = None
    ) -> "Version":
        """Copy this version into a new folder, with one more migration.

        Args:
            oldest_code: the attribute of the migration; empty: none.
            upgrade: what the migration does.
            change: further changes of the new package.
        """
        former, package = self.folder / "photosvc", folder / "photosvc"
        shutil.copytree(former, package, ignore=shutil.ignore_patterns(*_LARGE))
        for name in _LARGE:
            (package / name).symlink_to((former / name).resolve())
        later = f"{int(self.schema) + 1:04}"
        head = f"revision, down_revision, branch_labels, depends_on = '{later}', '{self.schema}', None, None\n"
        (package / _MIGRATIONS / f"{later}_later.py").write_text(
            f'"""A later change."""\n\nimport sqlalchemy as sa\nfrom alembic import op\n\n{head}'
            + (f"oldest_code = '{oldest_code}'\n" if oldest_code else "")
            + f"\n\ndef upgrade():\n    {upgrade}\n"
        )
        name = package / "__init__.py"
        name.write_text(name.read_text().replace(_VERSION, f"{_VERSION}{later}."))
        if change:
            change(package)
        return Version(folder)

    def svc(self, *arguments: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a command of this version."""
        program = [sys.executable, "-c", "from photosvc.main import main; main()", *arguments]
        return subprocess.run(
            program,
            env=self._environ(environ),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    @contextmanager
    def serve(self, environ: Mapping[str, str], log: Path) -> Iterator[int]:
        """Serve with two workers; the port. The server ends by TERM, as at a restart."""
        port = free_port()
        options = ["--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "16", "--no-control-socket"]
        options += ["--worker-class", "photosvc.serving.Worker", "--graceful-timeout", "30"]
        server = self.start("-m", "gunicorn", *options, APP, environ=environ, log=log)
        try:
            wait_for(port, seconds=300)
            yield port
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)

    def serve_at(
        self, listening: socket.socket, config: Path, environ: Mapping[str, str], log: Path
    ) -> "subprocess.Popen[bytes]":
        """Start a server at a socket that stays open, as that of a unit of systemd does."""
        number = listening.fileno()
        environ = {**environ, "LISTEN_FDS": "1"}
        command = ["-c", _AT_SOCKET, str(number), "--config", str(config), APP]
        return self.start(*command, environ=environ, log=log, pass_fds=(number,))

    def start(
        self, *arguments: str, environ: Mapping[str, str], log: Path, **options: Any
    ) -> "subprocess.Popen[bytes]":
        """Start Python with this version."""
        with log.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, *arguments],
                env=self._environ(environ),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                **options,
            )

    def _environ(self, environ: Mapping[str, str]) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(self.folder), SURROUNDINGS.get("PYTHONPATH", "")]))
        return {**SURROUNDINGS, **environ, "PYTHONPATH": path}


PRESENT = Version(ROOT)
