"""The `svc` command line, as `svc …` and as `flask svc …`."""

from photosvc.cli.group import LazyGroup, version_option

#: Command -> module and name; imported only when called, because every import delays every command.
svc = LazyGroup(
    name="svc",
    help="A photo library: index folders of originals, manage who may search them.",
    epilog="Begin with `svc run --photos FOLDER`. Shells complete names of commands and accounts: docs/commands.md.",
    params=[version_option],
    commands={
        "albums": "photosvc.cli.library.albums:albums",
        "audit": "photosvc.cli.accounts.audit:audit",
        "auth": "photosvc.cli.accounts.auth:auth",
        "backup": "photosvc.cli.backup:backup",
        "cache": "photosvc.cli.library.cache:cache",
        "check": "photosvc.cli.library.check:check",
        "clients": "photosvc.cli.accounts.clients:clients",
        "db": "photosvc.cli.db:db",
        "duplicates": "photosvc.cli.library.duplicates:duplicates",
        "import": "photosvc.cli.indexing.imports:import_folder",
        "index": "photosvc.cli.indexing.index:index",
        "keys": "photosvc.cli.accounts.keys:keys",
        "passwd": "photosvc.cli.accounts.users:passwd",
        "purge": "photosvc.cli.library.purge:purge",
        "restore": "photosvc.cli.backup:restore",
        "run": "photosvc.cli.run:run",
        "search": "photosvc.cli.library.search:search",
        "show": "photosvc.cli.show:show",
        "status": "photosvc.cli.status:status",
        "thumbs": "photosvc.cli.library.thumbs:thumbs",
        "trash": "photosvc.cli.library.trash:trash",
        "users": "photosvc.cli.accounts.users:users",
        "watch": "photosvc.cli.indexing.watch:watch",
    },
)
