"""The scripts of the grid, which a page names so that browsers need not read one to learn of the next."""

from typing import Final

#: Those that the first photos need, then those that the rest of the grid does.
GRID_SCRIPTS: Final = tuple(
    f"grid/{name}.js"
    for name in (
        *("main", "timeline", "window", "api", "tile", "layouts", "near", "span", "rows", "words", "icons", "beside"),
        *("tools", "scrubber", "selection", "actions", "albums", "keys", "viewing", "moving", "suggest", "upload", "help"),
    )
)
