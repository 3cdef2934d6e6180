"""The `svc` command line, as `svc …` and as `flask svc …`."""

from photosvc.cli.group import LazyGroup, instance_option, version_option

#: Command -> its module in this package, with its name there if another, imported only when it is called, and the first
#: sentence of its help: the list of all commands imports none of them.
svc = LazyGroup(
    name="svc",
    help="Photo library: index folders of originals, and manage who may search them.",
    epilog="Begin with `svc run --photos FOLDER`.",
    params=[instance_option, version_option],
    commands={
        "albums": ("albums", "List, show, fill and delete albums."),
        "audit": (
            "audit",
            "Show the newest entries of the security log, the newest first: log-ins, refusals, changes.",
        ),
        "auth": ("auth", "Create, list and revoke app passwords, access tokens and login sessions."),
        "backup": ("backup", "Write database, keys and configuration to one archive, while the service runs."),
        "cache": ("thumbs", "Show or clear the cache of thumbnails and videos, which are made again when needed."),
        "check": ("check", "Check the library, or one SUBFOLDER of its originals."),
        "clients": ("clients", "Register, list, change and remove OAuth2 clients."),
        "db": ("db", "Upgrade, check or copy the database."),
        "deploy": (
            "deploy",
            "Print files for nginx, gunicorn, systemd and containers, filled in with the settings in force.",
        ),
        "duplicates": ("search", "List photos that look alike, in groups, the best file of each first."),
        "import": (
            "imports:import_folder",
            "Import pictures and videos of FOLDER, by default PHOTOSVC_IMPORT_FOLDER, into the originals.",
        ),
        "index": ("index", "Index the originals, or one SUBFOLDER of them."),
        "keys": ("keys", "List and rotate the keys that sign JWT access tokens, and replace the service key."),
        "links": ("links", "Make, list, change and end public links to albums."),
        "locks": ("locks", "List and end the locks of WebDAV clients."),
        "passwd": ("users", "Change an account's password."),
        "purge": ("purge", "Mark files that are gone from the originals as missing, or remove them with --hard."),
        "restore": ("backup", "Restore an archive of `svc backup` into the instance folder, while no service runs."),
        "run": ("run", "Upgrade the database, serve the library, and index the originals."),
        "search": ("search", "Search the library, private photos included."),
        "shares": ("shares", "Share albums with accounts."),
        "show": ("show", "Show settings, scopes, the policy, search filters, sizes of thumbnails and formats."),
        "status": ("status", "Print the size of the library, its last index runs, and the files that failed."),
        "thumbs": ("thumbs", "Make thumbnails of the photos that match QUERY, by default of all."),
        "trash": ("trash", "List, restore and permanently delete originals that were deleted or replaced."),
        "users": ("users", "Add, list, change and remove accounts."),
        "watch": ("index", "Index changes of the originals, and jobs of other processes, until a signal ends it."),
    },
)
