"""The `svc` command line, as `svc …` and as `flask svc …`."""

from photosvc.cli.group import LazyGroup, version_option

#: Command -> its module and name, imported only when it is called, and the first sentence of its help: the list of all
#: commands imports none of them.
svc = LazyGroup(
    name="svc",
    help="A photo library: index folders of originals, manage who may search them.",
    epilog="Begin with `svc run --photos FOLDER`. Shells complete names of commands and accounts: docs/commands.md.",
    params=[version_option],
    commands={
        "albums": ("photosvc.cli.albums:albums", "List, show, fill and delete albums."),
        "audit": (
            "photosvc.cli.audit:audit",
            "Show the newest entries of the security log, the newest first: log-ins, refusals, changes.",
        ),
        "auth": (
            "photosvc.cli.auth:auth",
            "Create, list and revoke app passwords, access tokens and login sessions.",
        ),
        "backup": (
            "photosvc.cli.backup:backup",
            "Write database, keys and configuration to one archive, while the service goes on.",
        ),
        "cache": (
            "photosvc.cli.thumbs:cache",
            "Look at and clear the derived pictures; all of them can be made again from the originals.",
        ),
        "check": ("photosvc.cli.check:check", "Check the library, or one SUBFOLDER of its originals."),
        "clients": ("photosvc.cli.clients:clients", "Register, list, change and remove OAuth2 clients."),
        "db": ("photosvc.cli.db:db", "Bring the database schema up to date, or look at it."),
        "duplicates": (
            "photosvc.cli.duplicates:duplicates",
            "List photos that look alike, in groups, the best file of each first.",
        ),
        "import": (
            "photosvc.cli.imports:import_folder",
            "Bring the pictures and videos of FOLDER into the originals, by default those of PHOTOSVC_IMPORT_FOLDER.",
        ),
        "index": ("photosvc.cli.index:index", "Index the originals, or one SUBFOLDER of them."),
        "keys": (
            "photosvc.cli.keys:keys",
            "List and rotate the keys that sign metadata and JWT access tokens, and replace the service key.",
        ),
        "passwd": ("photosvc.cli.users:passwd", "Change an account's password."),
        "purge": (
            "photosvc.cli.purge:purge",
            "Hide what the originals do not have any more, or remove it with --hard.",
        ),
        "restore": (
            "photosvc.cli.backup:restore",
            "Restore an archive of `svc backup` into the instance folder, while no service runs.",
        ),
        "run": ("photosvc.cli.run:run", "Migrate, create a token, serve, and index the originals meanwhile."),
        "search": ("photosvc.cli.search:search", "Search the library, private photos included."),
        "show": (
            "photosvc.cli.show:show",
            "Show settings, scopes, the policy, search filters, sizes of thumbnails and formats.",
        ),
        "status": (
            "photosvc.cli.status:status",
            "Print what the library has, when it was indexed, and which files failed, the last ones first.",
        ),
        "thumbs": (
            "photosvc.cli.thumbs:thumbs",
            "Make thumbnails of the photos that QUERY finds, by default of all.",
        ),
        "trash": (
            "photosvc.cli.trash:trash",
            "List, restore and delete for good the originals that were deleted or replaced.",
        ),
        "users": ("photosvc.cli.users:users", "Add, list, change and remove accounts."),
        "watch": (
            "photosvc.cli.watch:watch",
            "Index what changes in the originals, and folders that other processes wish for, until a signal ends it.",
        ),
    },
)
