"""Processes of `svc`, `flask` and gunicorn that start in a few milliseconds.

A server process imports what they import, which takes most of a second, and forks for each of them. They have file
descriptors, a terminal, signals and an exit code of their own, as if they had been started by their console script.
Environment variables that Python reads at its start make no difference to them.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Lock

#: The environment variables of each command.
SURROUNDINGS = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
SURROUNDINGS |= {"LANG": "C.UTF-8", "TZ": "UTC"}
ROOT = Path(__file__).parents[3]
_STANDARD = (0, 1, 2)
#: `functools.cache` lets threads that come at the same time start a server each.
_STARTING = Lock()
_IMPORTED = (
    *("photosvc.app", "photosvc.pictures.service"),
    *("photosvc.index.run", "photosvc.main", "photosvc.serving"),
    *("alembic.command", "gunicorn.app.wsgiapp", "gunicorn.workers.gthread", "gunicorn.workers.sync", "rich.table"),
)


class Process:
    """A running command, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.pid = int(connection.recv(20))
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, negative for a signal, when the process has ended."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = int(self._connection.recv(20))
            except TimeoutError:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0) from None
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        """The exit code, if the process has ended."""
        if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


def start(
    program: str, *arguments: str, environ: dict[str, str], streams: tuple[int, int, int], terminal: bool = False
) -> Process:
    """Start `svc`, `flask` or `gunicorn` with these standard streams; `terminal` makes the first its terminal."""
    order = {"program": program, "arguments": arguments, "environ": environ, "terminal": terminal}
    return Process(_request(_server()[1], order, dict(enumerate(streams))))


def run(
    *arguments: str, environ: dict[str, str], timeout: float, program: str = "svc"
) -> subprocess.CompletedProcess[str]:
    """The result of a program with these arguments and an empty standard input."""
    with open(os.devnull) as empty, TemporaryFile("w+") as output, TemporaryFile("w+") as errors:  # noqa: PTH123
        streams = (empty.fileno(), output.fileno(), errors.fileno())
        code = start(program, *arguments, environ=environ, streams=streams).wait(timeout)
        found = [(file.seek(0), file.read())[1] for file in (output, errors)]
    return subprocess.CompletedProcess(arguments, code, *found)


def launcher(folder: Path) -> Path:
    """An executable `svc` for shells, which starts the command as `start` does and waits for it."""
    path = folder / "svc"
    imports = f"import sys\nsys.path.append({str(ROOT)!r})\nfrom tests.helpers.programs import forks\n"
    program = f"#!{sys.executable} -ISB\n{imports}"
    address = _server()[1]
    with _STARTING:  # threads of a test may ask for the same one
        if not path.exists():
            new = folder / "svc.new"
            new.write_text(f"{program}forks.launch({address!r})\n")
            new.chmod(0o755)
            new.rename(path)
    return path


def launch(address: str) -> None:
    """Pass the arguments, environment and streams of this process to `svc` and end as it does."""
    open_streams = {number: number for number in _STANDARD if _is_open(number)}
    order = {"program": "svc", "arguments": sys.argv[1:], "environ": dict(os.environ), "terminal": False}
    sys.exit(Process(_request(address, order, open_streams)).wait())


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _request(address: str, order: dict[str, object], streams: dict[int, int]) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(address)
    message = json.dumps({**order, "folder": os.getcwd(), "streams": list(streams)})  # noqa: PTH109
    socket.send_fds(connection, [message.encode()], list(streams.values()))
    return connection


def _server() -> tuple[subprocess.Popen[bytes], str, TemporaryDirectory[str]]:
    """The server of this process, the address of its socket and the folder of that."""
    with _STARTING:
        return _start_server()


@cache
def _start_server() -> tuple[subprocess.Popen[bytes], str, TemporaryDirectory[str]]:
    folder = TemporaryDirectory()
    address = f"{folder.name}/socket"
    command = [sys.executable, "-m", "tests.helpers.programs.forks", address]
    server = subprocess.Popen(command, cwd=ROOT, env=SURROUNDINGS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server.stdout.readline()
    return server, address, folder


def end() -> None:
    """End the server, if there is one; it waits for the processes that it started."""
    if _start_server.cache_info().currsize:
        server, _, folder = _server()
        server.communicate()
        folder.cleanup()


def serve(address: str) -> None:
    """Fork for every request until standard input ends."""
    # Each command starts with this module, and imports nothing of the service.
    from photosvc.extension import VIEWS

    for module in (*_IMPORTED, *VIEWS):
        importlib.import_module(module)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address)
    listener.listen(64)
    gc.collect()
    gc.freeze()
    os.write(1, b"ready\n")
    children = 0
    while listener in select.select([listener, 0], [], [])[0]:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _run(connection)
            return
        connection.close()
        children += 1
        while children and os.waitpid(-1, os.WNOHANG)[0]:
            children -= 1
    for _ in range(children):
        os.wait()


def _run(connection: socket.socket) -> None:
    """Run the command in a child of this process, which sends its process id and exit code."""
    message, received, _, _ = socket.recv_fds(connection, 1 << 20, len(_STANDARD))
    process = os.fork()
    if process:
        for descriptor in received:
            os.close(descriptor)
        connection.send(b"%d" % process)
        connection.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
        os._exit(0)
    connection.close()
    order = json.loads(message)
    _set_streams(dict(zip(order["streams"], received, strict=True)))
    if order["terminal"]:
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for background jobs
    os.environ.clear()
    os.environ.update(order["environ"])
    time.tzset()
    os.chdir(order["folder"])
    sys.path[0] = str(Path(sys.executable).parent)
    sys.argv = [order["program"], *order["arguments"]]
    if order["program"] == "svc":
        from photosvc.main import main
    elif order["program"] == "flask":
        from flask.cli import main
    else:
        from gunicorn.app.wsgiapp import run as main
    sys.exit(main())


def _set_streams(given: dict[int, int]) -> None:
    """Make these descriptors the standard streams, as Python does at its start."""
    for number in _STANDARD:
        os.close(number)
    for number, descriptor in given.items():
        os.dup2(descriptor, number)
    for descriptor in given.values():
        os.close(descriptor)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = None
        if number in given:
            errors = "backslashreplace" if name == "stderr" else "surrogateescape"
            stream = open(number, "w" if number else "r", encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
            stream.reconfigure(line_buffering=name == "stderr" or os.isatty(number))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    serve(sys.argv[1])
