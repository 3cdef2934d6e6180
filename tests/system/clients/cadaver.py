"""The everyday commands of cadaver."""

import os
import subprocess
from pathlib import Path

from tests.system.clients.dav_server import USER, DavServer

_COMMANDS = """lcd {local}
mkcol trip
cd trip
put "a b.jpg"
put plain.jpg p.jpg
lock p.jpg
propset p.jpg colour green
propget p.jpg colour
put plain.jpg p.jpg
unlock p.jpg
move p.jpg q.jpg
copy q.jpg r.jpg
delete "a b.jpg"
ls
get r.jpg {got}
quit
"""


def use_cadaver(dav: DavServer, local: Path, home: Path) -> bytes:
    """Make the folder `trip` with `q.jpg` and `r.jpg` of a local file, and return what cadaver gets of the latter.

    Args:
        dav: the server.
        local: a folder with `a b.jpg` and `plain.jpg`.
        home: a folder for the password and the file.
    """
    host = dav.address.removeprefix("http://").partition(":")[0]
    netrc, got = home / ".netrc", home / "got.jpg"
    netrc.write_text(f"machine {host} login {USER} password {dav.password}\n")
    netrc.chmod(0o600)
    done = subprocess.run(
        ["cadaver", dav.url],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"},
        cwd=home,
        input=_COMMANDS.format(local=local, got=got),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert "failed" not in output.lower(), output
    assert "Value of colour is: green" in output
    return got.read_bytes()
