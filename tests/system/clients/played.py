"""A machine in a folder: programs that need root are played, all others are real.

The paths of a guide begin with the folder instead of `/`. `systemctl` runs the lines of the units that lie there, and
nginx gets free ports.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.helpers.programs.ports import is_open, wait_for

REPOSITORY = Path(__file__).parents[3]
#: Ports of the guide.
SERVICE, HTTP, HTTPS = 8080, 80, 443
_FOLDERS = re.compile(r"(?<![\w/.-])/(?=(?:opt|etc|srv|var)/)")
_PROGRAMS = ("apt-get", "useradd", "install", "runuser", "systemctl", "nginx", "python3")


class Machine:
    """A played machine, whose `bin` comes first on the path of its shell.

    Args:
        root: the folder.
        ports: port of the guide -> free port.
    """

    def __init__(self, root: Path, ports: dict[int, int]) -> None:
        self.root, self.ports = root, ports

    def set_up(self) -> None:
        """Make what every machine has before a service is installed."""
        for folder in ("bin", "run", "etc/systemd/system", "etc/nginx/conf.d", "var/log/nginx", "root"):
            (self.root / folder).mkdir(parents=True)
        for name in _PROGRAMS:
            program = self.root / "bin" / name
            program.write_text(
                f"#!{sys.executable} -I\nimport sys\nfrom pathlib import Path\nsys.path.append({str(REPOSITORY)!r})\n"
                f"from tests.system.clients.played import Machine\n"
                f"Machine(Path({str(self.root)!r}), {self.ports}).play("
                f"{name!r}, sys.argv[1:])\n"
            )
            program.chmod(0o755)
        (self.root / "root/.curlrc").write_text(
            f'connect-to = "photos.example.org:{HTTPS}:127.0.0.1:{self.ports[HTTPS]}"\n'
        )

    def moved(self, text: str) -> str:
        """The text with paths in the folder, and with the free port of the service."""
        text = _FOLDERS.sub(f"{self.root}/", text)
        return text.replace(f"127.0.0.1:{SERVICE}", f"127.0.0.1:{self.ports[SERVICE]}")

    def play(self, program: str, arguments: list[str]) -> None:
        """Do what a program does, or become the real one."""
        if program in {"apt-get", "useradd"}:
            return
        if program == "install":  # everything belongs to the user of the tests
            options = iter(arguments)
            kept = [option for option in options if option not in {"-o", "-g"} or not next(options)]
            os.execv("/usr/bin/install", ["install", *kept])
        elif program == "runuser":
            assert (arguments[0], arguments[2]) == ("-u", "--")
            os.environ["PGUSER"] = arguments[1]  # as PostgreSQL knows the user of the system
            os.execvp(arguments[3], arguments[3:])
        elif program == "python3":
            self._python(arguments)
        elif program == "nginx":
            sys.exit(self._nginx(*arguments))
        else:
            self._systemctl(arguments)

    def stop(self) -> None:
        """End all processes of the machine."""
        for file in (self.root / "run").glob("*.pid"):
            self._end(file.stem)

    def _python(self, arguments: list[str]) -> None:
        """Make a virtual environment with the dependencies of the tests: only the package itself is installed."""
        module, environment = arguments[1:]
        assert module == "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        (site,) = Path(environment).glob("lib/python*/site-packages")
        (site / "dependencies.pth").write_text(f"{os.environ['DEPENDENCIES']}\n")
        pip = Path(environment) / "bin/pip"
        pip.write_text(f'#!/bin/sh\nexec {environment}/bin/python -m pip "$@"\n')
        pip.chmod(0o755)

    def _nginx(self, *arguments: str) -> int:
        """Run the real nginx with the files of the machine and free ports."""
        folder = self.root / "run"
        text = "".join(self.moved(file.read_text()) for file in (self.root / "etc/nginx/conf.d").glob("*.conf"))
        text = re.sub(r"^ *listen \[::\]:.*\n", "", text, flags=re.MULTILINE)
        for port in (HTTP, HTTPS):
            text = re.sub(rf"listen {port}\b", f"listen 127.0.0.1:{self.ports[port]}", text)
        paths = "".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "nginx.conf").write_text(
            f"{'user root;' if os.getuid() == 0 else ''} pid {folder}/nginx.pid; error_log {folder}/nginx.log;"
            f" worker_processes 1; events {{ worker_connections 64; }} http {{ types {{ }} {paths} {text} }}"
        )
        path = os.environ["PATH"].partition(os.pathsep)[2]
        command = ["nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "nginx.log"), *arguments]
        return subprocess.run(command, env={**os.environ, "PATH": path}, check=False).returncode

    def _systemctl(self, arguments: list[str]) -> None:
        verb, *names = [argument for argument in arguments if argument != "--now"]
        if verb == "daemon-reload":
            return
        for name in names:
            if (verb, name) == ("reload", "nginx"):
                runs = self._number("nginx") is not None
                assert self._nginx(*(["-s", "reload"] if runs else [])) == 0
                wait_for(self.ports[HTTPS])
                continue
            assert (self.root / "etc/systemd/system" / name).is_file(), name
            if name.endswith(".service"):
                {"enable": self._begin, "start": self._begin, "stop": self._end}[verb](name.removesuffix(".service"))

    def _begin(self, name: str) -> None:
        """Run the commands of a service, the last one in the background."""
        text = self.moved((self.root / f"etc/systemd/system/{name}.service").read_text())
        environ = {name: os.environ[name] for name in ("PATH", "PGHOST", "HOME") if name in os.environ}
        environ["GUNICORN_CMD_ARGS"] = f"--bind 127.0.0.1:{self.ports[SERVICE]}"
        commands = []
        for line in text.splitlines():
            key, _, value = line.partition("=")
            words = [word.replace("%%", "%") for word in shlex.split(value)] if key.startswith(("Exec", "Env")) else []
            if key == "Environment":
                environ |= dict(word.split("=", 1) for word in words)
            elif key == "User":
                environ["PGUSER"] = value
            elif key in {"ExecStartPre", "ExecStart"}:
                commands.append(words)
        *before, last = commands
        for command in before:
            subprocess.run(command, env=environ, cwd=self.root, check=True, stdout=subprocess.DEVNULL)
        with (self.root / f"run/{name}.log").open("ab") as log:
            process = subprocess.Popen(
                last,
                env=environ,
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        (self.root / f"run/{name}.pid").write_text(str(process.pid))
        if name == "photosvc":
            wait_for(self.ports[SERVICE])

    def _end(self, name: str) -> None:
        if (number := self._number(name)) is None:
            return
        os.kill(number, signal.SIGTERM)
        end = time.monotonic() + 60
        while _lives(number):
            assert time.monotonic() < end, f"{name} does not end"
            time.sleep(0.05)
        (self.root / f"run/{name}.pid").unlink(missing_ok=True)
        assert name != "photosvc" or not is_open(self.ports[SERVICE])

    def _number(self, name: str) -> int | None:
        """The number of the process of a service; nginx makes an empty file when it only checks its configuration."""
        file = self.root / f"run/{name}.pid"
        return int(file.read_text() or 0) or None if file.exists() else None


def _lives(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2]
    except OSError:
        return False
    return not state.startswith("Z")
