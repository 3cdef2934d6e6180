"""The lowest versions that setup.cfg allows, as constraints of pip: `python -m tools.lowest > constraints.txt`.

A range has its lowest version first, as in `flask >=3.1.3,<4`.
"""

import re
import sys
from configparser import ConfigParser
from pathlib import Path

SETUP = Path(__file__).parents[1] / "setup.cfg"
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])? >=(?P<floor>[\w.]+)(,<[\w.]+)?(; python_version .*)?")


def lowest_versions(text: str) -> dict[str, str]:
    """Name of a package -> the lowest version of it.

    Args:
        text: the content of setup.cfg.

    Raises:
        ValueError: a requirement has no lowest version.

    """
    config = ConfigParser(interpolation=None)
    config.read_string(text)
    lines = [config["options"]["install_requires"], *config["options.extras_require"].values()]
    found: dict[str, str] = {}
    for line in filter(None, "\n".join(lines).splitlines()):
        if line.startswith(f"{config['metadata']['name']}["):
            continue
        match = _REQUIREMENT.fullmatch(line)
        if match is None:
            msg = f"setup.cfg: write {line!r} as a name with its lowest version first"
            raise ValueError(msg)
        found[match["name"]] = match["floor"]
    return found


if __name__ == "__main__":
    for name, version in lowest_versions(SETUP.read_text("utf-8")).items():
        sys.stdout.write(f"{name}=={version}\n")
