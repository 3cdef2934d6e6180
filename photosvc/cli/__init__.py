"""The `svc` command line, as `svc …` and as `flask svc …`."""

from photosvc.cli.group import LazyGroup, instance_option, version_option

#: Command -> its module and name, imported only when it is called, and the first sentence of its help: the list of all
#: commands imports none of them.
svc = LazyGroup(
    name="svc",
    help="Photo library: index folders of originals, and manage who may search them.",
    epilog="Begin with `svc run --photos FOLDER`. Shells complete names of commands and accounts: docs/commands.md.",
    params=[instance_option, version_option],
    commands={
        "albums": ("photosvc.cli.albums:albums", "List, show, fill and delete albums."),
        "audit": (
            "photosvc.cli.upkeep:audit",
            "Show the newest entries of the security log, the newest first: log-ins, refusals, changes.",
        ),
        "auth": ("photosvc.cli.auth:auth", "Create, list and revoke app passwords, access tokens and login sessions."),
        "backup": (
            "photosvc.cli.backup:backup",
            "Write database, keys and configuration to one archive, while the service runs.",
        ),
        "cache": (
            "photosvc.cli.thumbs:cache",
            "Show or clear the cache of thumbnails and videos, which are made again when needed.",
        ),
        "check": ("photosvc.cli.upkeep:check", "Check the library, or one SUBFOLDER of its originals."),
        "clients": ("photosvc.cli.clients:clients", "Register, list, change and remove OAuth2 clients."),
        "cluster": (
            "photosvc.cli.upkeep:cluster",
            "List the machines that serve the library, and what is wrong with them or with the database's replica.",
        ),
        "db": ("photosvc.cli.backup:db", "Upgrade, check or copy the database."),
        "deploy": (
            "photosvc.cli.deploy:deploy",
            "Print files for nginx, systemd, containers and monitors, filled in with the settings in force.",
        ),
        "duplicates": (
            "photosvc.cli.search:duplicates",
            "List photos that look alike, in groups, the best file of each first.",
        ),
        "import": (
            "photosvc.cli.index:import_folder",
            "Import pictures and videos of FOLDER, by default PHOTOSVC_IMPORT_FOLDER, into the originals.",
        ),
        "index": ("photosvc.cli.index:index", "Index the originals, or one SUBFOLDER of them."),
        "keys": (
            "photosvc.cli.keys:keys",
            "List and rotate the keys that sign JWT access tokens, and replace the service key.",
        ),
        "links": ("photosvc.cli.links:links", "Make, list, change and end public links to albums."),
        "passwd": ("photosvc.cli.users:passwd", "Change an account's password."),
        "purge": (
            "photosvc.cli.upkeep:purge",
            "Mark files that are gone from the originals as missing, or remove them with --hard.",
        ),
        "restore": (
            "photosvc.cli.backup:restore",
            "Restore an archive of `svc backup` into the instance folder, while no service runs.",
        ),
        "run": ("photosvc.cli.run:run", "Upgrade the database, serve the library, and index the originals."),
        "search": ("photosvc.cli.search:search", "Search the library, private photos included."),
        "shares": ("photosvc.cli.shares:shares", "Share albums with accounts."),
        "show": (
            "photosvc.cli.show:show",
            "Show settings, scopes, the policy, search filters, sizes of thumbnails and formats.",
        ),
        "status": (
            "photosvc.cli.upkeep:status",
            "Print the size of the library, its last index runs, and the files that failed.",
        ),
        "thumbs": ("photosvc.cli.thumbs:thumbs", "Make thumbnails of the photos that match QUERY, by default of all."),
        "trash": (
            "photosvc.cli.trash:trash",
            "List, restore and permanently delete originals that were deleted or replaced.",
        ),
        "users": ("photosvc.cli.users:users", "Add, list, change and remove accounts."),
        "watch": (
            "photosvc.cli.index:watch",
            "Index changes of the originals, and jobs of other processes, until a signal ends it.",
        ),
    },
)
