"""Requests of a client in a folder of its own among the originals, `dav.top`, and what is in it on the disk."""

from photosvc.index.scan import TRASH_FOLDER


def root(dav):
    return dav.api.library.originals


def on_disk(dav, path):
    return root(dav) / (dav.top + path).strip("/")


def read(dav, path):
    return on_disk(dav, path).read_bytes()


def exists(dav, path):
    return on_disk(dav, path).exists()


def parts(dav):
    return list((root(dav) / ".photosvc").glob("*.part"))


def trashed(dav):
    """Return the files in the trash, by its former path in the folder."""
    found = (path.relative_to(root(dav) / TRASH_FOLDER) for path in (root(dav) / TRASH_FOLDER).rglob("*"))
    names = ("/" + str(path).partition("/")[2] for path in found)
    return sorted(name.removeprefix(dav.top) for name in names if name.startswith(dav.top + "/"))


def store(dav, *paths, data=None):
    """Write files on the disk, each with its own path as content."""
    for path in paths:
        on_disk(dav, path).parent.mkdir(parents=True, exist_ok=True)
        on_disk(dav, path).write_bytes(path.encode() if data is None else data)


def call(dav, method, path, data=None, *, client=None, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return (client or dav).call(method, dav.top + path, data, headers=headers)


def put(dav, path, data=b"data", **headers):
    return call(dav, "PUT", path, data, **headers)


def to(dav, method, path, target, **headers):
    return call(dav, method, path, Destination=f"/originals{dav.top}{target}", **headers)
