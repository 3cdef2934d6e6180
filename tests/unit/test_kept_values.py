"""Every place that keeps a value, makes an entity tag or opens an SQLite database, and what makes it safe.

A new place fails these tests until it is listed with all that its value depends on, or with the thread that uses it.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import photosvc

ROOT = Path(photosvc.__file__).parent
_PREPARED = "the dialect of the engine, and each argument that the statement is made from"
_FIXED = "nothing: files and constants of the package, or one registration for a process"
_PURE = "all arguments of a pure function"

#: Values that are kept -> what they are keyed by.
KEPT = {
    "api/search.py _as_query": _PURE,
    "api/viewer.py _thumbs": _PURE,
    "auth/credentials.py _ending": _FIXED,
    "auth/passwords.py _dummy": _FIXED,
    "auth/tokens.py _sign": _PURE,
    "auth/tokens.py _prepared": _PREPARED,
    "auth/keys.py derive_key": _PURE,
    "auth/grants.py granted_scope": _PURE,
    "auth/scopes.py parse_scope": _PURE,
    "core/timezones.py _known_zone": "the name; an error of the disk is not kept",
    "index/places.py _countries": _FIXED,
    "index/places.py load": _FIXED,
    "index/sidecar_links.py OrderedDict": "the folder, for one index run",
    "index/sidecar_links.py _prepared": _PREPARED,
    "library/journal.py _prepared": _PREPARED,
    "library/changing.py _by_word": _PREPARED,
    "library/trash_folder.py Kept": "a file in the trash, not a kept value",
    "library/trash.py Kept": "a file in the trash, not a kept value",
    "media/errors.py register_heic": _FIXED,
    "media/errors.py register_jxl": _FIXED,
    "media/colours.py color_id": _PURE,
    "media/psd.py _curve_of_floats": _FIXED,
    "media/decode.py _library": _FIXED,
    "query/parser.py _meant": _PURE,
    "query/spoken.py _regions": _FIXED,
    "migrations.py _register": _FIXED,
    "models/schema.py _references": _FIXED,
    "models/statements.py _plain_class": _FIXED,
    "models/statements.py _prepared": _PREPARED,
    "models/statements.py _reader": _FIXED,
    "models/statements.py insert_of": _FIXED,
    "models/statements.py _prepare_many": _PREPARED,
    "models/statements.py lru_cache(256)(processor)": "the value, for one converter of a column's type",
    "web/transactions.py OrderedDict": "the caller's key and the number of the commits, of one service",
    "models/statements.py _statement": _PURE,
    "pages/api_docs.py _parts": "the templates of the app and the bytes of its document",
    "pages/api_docs.py read_docs": _PURE,
    "pages/layout.py _contents": _FIXED,
    "pages/layout.py _packed": _FIXED,
    "pages/layout.py asset_version": _FIXED,
    "pages/language.py _markup": _FIXED,
    "pages/language.py catalogue": _FIXED,
    "pages/language.py _formatted": _PURE,
    "pages/photos.py OrderedDict": "the state of the library, and the whole query with its rights",
    "pages/script_texts.py _packed": _FIXED,
    "pictures/service.py _thumbnail_workers": "the service",
    "pictures/service.py _video_workers": "the service",
    "pictures/render.py _transform": _PURE,
    "query/fold.py lru_cache(_REMEMBERED)(fold)": _PURE,
    "query/fold.py lru_cache(_REMEMBERED)(words)": _PURE,
    "query/fold.py other_forms": _PURE,
    "query/place_names.py places_named": _FIXED,
    "query/reader.py country_codes": _FIXED,
    "search/rows/render.py _prepared": _PREPARED,
    "search/rows/write.py _text_statement": _PREPARED,
    "search/rows/write.py _read_stored": _PREPARED,
    "search/reading/albums.py Kept": "state, right to private photos, and the day of smart albums",
    "search/reading/albums.py KnownAlbums": "state, right to private photos, and the day of smart albums",
    "search/reading/facets.py Kept": "the state of the library, primary files or all, and what may be seen",
    "search/reading/facets.py KnownFacets": "the state of the library, primary files or all, and what may be seen",
    "search/reading/files.py _albums": _PREPARED,
    "search/reading/state.py _state": _PREPARED,
    "search/reading/files.py _prepared": _PREPARED,
    "search/reading/compile.py visible": _PREPARED,
    "search/reading/compile.py visible_albums": _PREPARED,
    "search/reading/lookups.py _albums": _PREPARED,
    "search/reading/lookups.py _cities": "all arguments, over a file of the package",
    "search/reading/window.py plain_statement": _PREPARED,
    "search/reading/request.py _kinds": _PURE,
    "search/reading/request.py _parse": _PURE,
    "search/reading/request.py _parse_query": _PURE,
    "search/reading/suggest.py _comparing": _PREPARED,
    "search/reading/suggest.py _counting": _PREPARED,
    "search/reading/suggest.py _recent": _PREPARED,
    "storage/bucket.py _new_store": "the address of the store and the process; credentials are those of its start",
    "storage/remote.py OrderedDict": "the number of the block, of one version of one open file",
    "web/answers.py _packed": _PURE,
    "web/current.py Kept": "the state of the library and the right to private photos, of one service",
    "web/openapi.py lru_cache(maxsize=_MOUNTS)(_describe)": "the app, the path of the routes and the address",
    "web/contract.py unknown_parameters": _PURE,
    "workers/remote.py _processes": "the function, its limits and the landmarks of the run, in a worker of dask",
}
_REQUEST = "state, right to private photos and the whole request"
_BODY = "the body"
_FILE = "the content of the file"

#: Places that make an entity tag -> what it is made from.
TAGGED = {
    "api/folders.py state_tag": _REQUEST,
    "api/albums.py state_tag": _REQUEST,
    "api/labels.py state_tag": _REQUEST,
    "api/timeline.py state_tag": _REQUEST,
    "api/viewer.py page_tag": _REQUEST,
    "web/changes.py blake2b": _BODY,
    "api/photos.py state_tag": _REQUEST,
    "api/search.py page_tag": _REQUEST,
    "api/search.py state_tag": _REQUEST,
    "api/config.py revalidated": _BODY,
    "api/well_known.py add_etag": _BODY,
    "core/ids.py blake2b": "no tag: identifiers",
    "core/machine.py blake2b": "no tag: the end of an identifier",
    "dav/copying.py etag_of": _FILE,
    "dav/files.py etag_of": _FILE,
    "dav/properties.py etag_of": _FILE,
    "dav/tree.py etag_of": _FILE,
    "index/stack_rules.py blake2b": "no tag: keys of stacks",
    "pages/api_docs.py revalidated": _BODY,
    "pages/layout.py blake2b": _FILE,
    "pages/layout.py set_etag": "all files, and how they are packed",
    "search/reading/state.py blake2b": "the text of the whole request",
    "web/answers.py blake2b": _BODY,
    "web/answers.py set_etag": _BODY,
}
_ONE = "one thread, which opened it"

#: Databases that are opened, and functions that SQLite calls -> the threads that use the connection.
SQLITE = {
    "backup/snapshot.py backup": _ONE,
    "backup/snapshot.py connect": _ONE,
    "backup/snapshot.py set_progress_handler": "the thread that checks; the other one only waits for it",
    "data/__init__.py connect": "one thread each, by `threading.local`; no functions",
    "index/changes.py connect": _ONE,
    "index/mirror.py connect": _ONE,
    "models/engine.py connect": "the thread that takes it from the pool of the engine",
    "web/transactions.py connect": "all threads, one at a time under a lock; no functions",
    "search/limits.py set_progress_handler": "the thread that took it from a pool of more than one",
}

_STORES = {"OrderedDict", "WeakKeyDictionary", "WeakValueDictionary", "Kept"}
#: Classes with values that `Service.only` keeps one object of.
_KEEPERS = {"KnownAlbums", "KnownFacets"}
_CACHES = {"cache", "lru_cache", "cached_property"}
_TAGS = {"state_tag", "page_tag", "etag_of", "revalidated", "set_etag", "add_etag", "blake2b"}
_CALLED_BACK = {
    *("connect", "create_function", "create_aggregate", "create_window_function", "create_collation"),
    *("set_authorizer", "set_progress_handler", "set_trace_callback", "backup"),
}


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """The nodes that may be found, each with its file; modules without any of the names need not be parsed."""
    names = re.compile(rf"\b(?:{'|'.join(_STORES | _KEEPERS | _CACHES | _TAGS | _CALLED_BACK)})\b")
    files = [(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in sorted(ROOT.rglob("*.py"))]
    parsed = [(name, ast.parse(text)) for name, text in files if names.search(text)]
    kinds = (ast.Call, ast.FunctionDef, ast.ClassDef)
    return [(name, node) for name, tree in parsed for node in ast.walk(tree) if isinstance(node, kinds)]


def last_name(node: ast.expr) -> str:
    """The last part of a dotted name; empty for other expressions."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def kept() -> Iterator[str]:
    for path, node in nodes():
        if isinstance(node, ast.FunctionDef):
            names = (last_name(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list)
            yield from (f"{path} {node.name}" for name in names if name in _CACHES)
        elif isinstance(node, ast.ClassDef) and node.name in _KEEPERS:
            yield f"{path} {node.name}"
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Call) and last_name(node.func.func) in _CACHES:
                yield f"{path} {ast.unparse(node)}"
            stores = [node.func, *(one.value for one in node.keywords if one.arg == "default_factory")]
            yield from (f"{path} {name}" for one in stores if (name := last_name(one)) in _STORES)


def calls(names: set[str]) -> Iterator[str]:
    for path, node in nodes():
        if isinstance(node, ast.Call) and (name := last_name(node.func)) in names:
            yield f"{path} {name}"


def test_every_kept_value_is_listed_with_what_it_is_keyed_by():
    assert set(kept()) == set(KEPT)


def test_every_entity_tag_is_listed_with_what_it_is_made_from():
    assert set(calls(_TAGS)) == set(TAGGED)


def test_every_connection_and_function_of_sqlite_is_listed_with_the_threads_that_use_it():
    found = {one for one in calls(_CALLED_BACK) if "sqlite3" in (ROOT / one.split()[0]).read_text("utf-8")}
    assert found == set(SQLITE)
