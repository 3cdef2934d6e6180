"""Sources of metadata values and their priority: a value is replaced only from a source of equal or higher priority."""

AUTO, DEFAULT, ESTIMATE, NAME, LOCATION = "", "default", "estimate", "name", "location"
META, XMP, MANUAL, ADMIN = "meta", "xmp", "manual", "admin"

PRIORITY = {
    AUTO: 1, DEFAULT: 1, ESTIMATE: 2, NAME: 4, LOCATION: 8, META: 16, XMP: 32, MANUAL: 64, ADMIN: 128,
}  # fmt: skip


def gives_way(current: str, new: str) -> bool:
    """Whether a value from the source `new` replaces one from `current`. Unknown sources count as `META`."""
    return PRIORITY.get(new, PRIORITY[META]) >= PRIORITY.get(current, PRIORITY[META])
