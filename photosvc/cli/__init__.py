"""The `svc` command line, as `svc …` and as `flask svc …`."""

from photosvc.cli.group import LazyGroup, instance_option, version_option

#: Command -> its module in this package, with the name of its function there if another.
svc = LazyGroup(
    name="svc",
    help="Photo library: index folders of originals, and manage who may search them.",
    epilog="Begin with `run --photos FOLDER`; inside another app, with `db upgrade` and `index`. "
    "A second library needs `--instance FOLDER` with each command.",
    params=[instance_option, version_option],
    commands={
        "albums": "albums",
        "audit": "audit",
        "auth": "auth",
        "backup": "backup",
        "cache": "thumbs",
        "check": "check",
        "clients": "clients",
        "db": "db",
        "deploy": "deploy",
        "doctor": "doctor",
        "duplicates": "search",
        "export": "export",
        "import": "imports:import_group",
        "index": "index",
        "keys": "keys",
        "links": "links",
        "locks": "locks",
        "passwd": "users",
        "purge": "purge",
        "restore": "backup",
        "run": "run",
        "search": "search",
        "shares": "shares",
        "show": "show",
        "sight": "sight",
        "status": "status",
        "thumbs": "thumbs",
        "trash": "trash",
        "users": "users",
        "watch": "index",
    },
)
