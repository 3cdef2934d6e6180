"""The `svc` command line, as `svc …` and as `flask svc …`."""

from photosvc.cli.group import LazyGroup

#: Command -> module and name; imported only when called, because every import delays every command.
svc = LazyGroup(
    name="svc",
    help="A photo library: index folders of originals, manage who may search them.",
    commands={
        "albums": "photosvc.cli.albums:albums",
        "audit": "photosvc.cli.audit:audit",
        "auth": "photosvc.cli.auth:auth",
        "cache": "photosvc.cli.cache:cache",
        "check": "photosvc.cli.check:check",
        "clients": "photosvc.cli.clients:clients",
        "db": "photosvc.cli.db:db",
        "duplicates": "photosvc.cli.duplicates:duplicates",
        "import": "photosvc.cli.imports:import_folder",
        "index": "photosvc.cli.index:index",
        "keys": "photosvc.cli.keys:keys",
        "passwd": "photosvc.cli.users:passwd",
        "purge": "photosvc.cli.purge:purge",
        "run": "photosvc.cli.run:run",
        "search": "photosvc.cli.search:search",
        "show": "photosvc.cli.show:show",
        "thumbs": "photosvc.cli.thumbs:thumbs",
        "trash": "photosvc.cli.trash:trash",
        "users": "photosvc.cli.users:users",
        "watch": "photosvc.cli.watch:watch",
    },
)
