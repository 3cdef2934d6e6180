"""What of the metadata depends on where the project is published; all else is in setup.cfg.

`PROJECT_URL` is the address of the source repository. With it, a package has project URLs, and the links and
pictures of its description, which are relative in README.md, lead there.
"""

import os
import re
from email.parser import HeaderParser
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent


def project_url() -> str:
    """Return the address of the repository: by the environment, else the source distribution; else empty."""
    given = os.environ.get("PROJECT_URL", "").rstrip("/")
    if given or not (ROOT / "PKG-INFO").is_file():
        return given
    urls = HeaderParser().parsestr((ROOT / "PKG-INFO").read_text("utf-8")).get_all("Project-URL", [])
    return next((url.partition(", ")[2] for url in urls if url.startswith("Source, ")), "")


def metadata(home: str) -> dict[str, object]:
    """Return the metadata of a package of this repository."""
    if not home:
        return {}
    readme = (ROOT / "README.md").read_text("utf-8")
    # The page of a file (blob) is no picture; its bytes are at raw.
    readme = re.sub(r"(!\[[^]]*\])\((?!https?://)([^)]+)\)", rf"\1({home}/raw/HEAD/\2)", readme)
    return {
        "long_description": re.sub(r"\]\((?!https?://|#)([^)]+)\)", rf"]({home}/blob/HEAD/\1)", readme),
        "long_description_content_type": "text/markdown",
        "project_urls": {
            "Source": home,
            "Documentation": f"{home}/tree/HEAD/docs",
            "Changelog": f"{home}/blob/HEAD/CHANGELOG.md",
            "Issues": f"{home}/issues",
        },
    }


setup(**metadata(project_url()))
