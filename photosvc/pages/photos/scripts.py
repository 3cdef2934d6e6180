"""The scripts of the grid, which a page names so that browsers need not read one to learn of the next."""

from typing import Final

_FIRST: Final = "main timeline window api tile layouts near span rows words icons beside"
_REST: Final = "tools scrubber selection actions bar line keys viewing moving suggest upload"
#: Those that the first photos need, then those that the rest of the grid does.
GRID_SCRIPTS: Final = tuple(f"grid/{name}.js" for name in f"{_FIRST} {_REST}".split())
