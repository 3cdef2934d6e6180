"""Two versions of the service on one database: the former one goes on through an upgrade that only adds to the schema.

The next version is a copy of the package with one more migration and a model that needs it.
"""

import http.client
import itertools
import json
import threading
import time
from collections import Counter
from contextlib import ExitStack

import pytest

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.models import SCHEMA_VERSION
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library
from tests.helpers.programs.versions import PRESENT
from tests.helpers.programs.watching import wait

pytestmark = pytest.mark.slow
NOTE = "op.add_column('photosvc_albums', sa.Column('note', sa.Text(), nullable=False, server_default=''))"
CLIENTS, PHOTOS = 4, 12


COLUMN = '    filter: Mapped[str] = mapped_column(Text, default="")\n'
NOTED = COLUMN + '    note: Mapped[str] = mapped_column(Text, default="new")\n'


def change_albums(package, before, after):
    models = package / "models/library.py"
    text = models.read_text()
    assert text.count(before) == 1
    models.write_text(text.replace(before, after))


def use_note(package):
    """Let the model of albums have the column, so that its code works only with the new schema."""
    change_albums(package, COLUMN, NOTED)


def leave_note(package):
    """Use the column no more."""
    change_albums(package, NOTED, COLUMN)


@pytest.fixture
def environ(tmp_path, new_database):
    """The settings of an instance with some photos, and a token for them."""
    settings = {"PHOTOSVC_DATABASE_URI": new_database()}
    library = open_library(tmp_path / "instance", settings=settings)
    library.clock.present = SYSTEM_CLOCK()
    with library.session() as session:
        add_photos(session, PHOTOS, library.clock())
    token = library.token()
    library.close()
    return {**settings, "PHOTOSVC_INSTANCE": str(library.instance), "TOKEN": token}


@pytest.fixture
def following(tmp_path):
    """The next version, whose migration only adds, and is fit for the present code."""
    return PRESENT.next(tmp_path / "next", oldest_code=SCHEMA_VERSION, upgrade=NOTE, change=use_note)


def call(port, token, method, path, body=None):
    """The status and document of a request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        headers = {"X-Auth-Token": token, "Content-Type": "application/json"}
        connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None
    finally:
        connection.close()


class Load:
    """Clients that read and write at all servers of a list, which changes while they do.

    Args:
        token: of all of them.
        ports: the servers.
    """

    def __init__(self, token, ports):
        self.token, self.ports = token, ports
        self.statuses, self.albums, self.titles, self.failures = Counter(), [], {}, []
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(CLIENTS)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number):
        found = self._ask(number, "GET", f"/photos?count={PHOTOS}&order=oldest", "search")
        uids = sorted({photo["UID"] for photo in found})[number::CLIENTS]  # each edits photos of its own
        for turn in itertools.count():
            if self._ended.is_set():
                return
            self._ask(number + turn, "GET", "/photos?count=5", "search")
            album = self._ask(number + turn, "POST", "/albums", "album", {"Title": f"{number} {turn}"})
            if album:
                self.albums.append(album["UID"])
            uid, title = uids[turn % len(uids)], f"Title {number} {turn}"
            if self._ask(number + turn, "PUT", f"/photos/{uid}", "edit", {"Title": title}):
                self.titles[uid] = title
            time.sleep(0.02)

    def _ask(self, turn, method, path, kind, body=None):
        port = self.ports[turn % len(self.ports)]
        status, document = call(port, self.token, method, path, body)
        self.statuses[port, kind, status] += 1
        if status != 200:
            self.failures.append((method, path, status, document))
            return None
        return document

    def goes_on_at(self, port, times=5):
        """Wait until each kind of request was answered so many more times by a server."""
        before = self.statuses.copy()

        def answered(kind):
            now = self.statuses.copy()
            return sum(now[at] - before[at] for at in now if at[:2] == (port, kind))

        wait(lambda: all(answered(kind) >= times for kind in ("search", "album", "edit")), seconds=300)


def test_the_former_version_serves_through_an_upgrade_and_beside_the_next_one(environ, following, tmp_path):
    token, log = environ.pop("TOKEN"), tmp_path / "gunicorn.log"
    with ExitStack() as former, ExitStack() as stack:
        old = former.enter_context(PRESENT.serve(environ, log))
        ports = [old]
        load = stack.enter_context(Load(token, ports))
        load.goes_on_at(old)
        plan = following.svc("db", "upgrade", "--dry-run", environ=environ)
        assert plan.stderr.splitlines() == [
            "Migrations, in one transaction:",
            f"  {following.schema}: A later change.",
            f"Processes of schema {SCHEMA_VERSION} and later can go on meanwhile, and afterwards.",
        ]
        done = following.svc("db", "upgrade", "--online", environ=environ)
        assert (done.returncode, done.stderr.splitlines()[-1]) == (
            0,
            f"The schema is now at {following.schema} (was {SCHEMA_VERSION}).",
        )
        load.goes_on_at(old)
        assert call(old, token, "GET", "/status")[0] == 200
        own = PRESENT.svc("db", "upgrade", environ=environ)  # such as by a former container that starts once more
        assert (own.returncode, own.stderr) == (
            0,
            f"The schema is at {following.schema}, newer than this photosvc ({SCHEMA_VERSION}), which can use it.\n",
        )
        new = stack.enter_context(following.serve(environ, log))
        assert call(new, token, "GET", "/healthz")[1]["version"].startswith(following.schema)
        ports.append(new)
        load.goes_on_at(old)
        load.goes_on_at(new)
        ports.remove(old)
        load.goes_on_at(new)
        former.close()
        load.goes_on_at(new)
        load.__exit__()
        assert load.failures == []
        assert {status for _, _, status in load.statuses} == {200}
        there = {one["UID"] for one in call(new, token, "GET", "/albums?count=10000")[1]}
        assert set(load.albums) <= there
        assert len(load.albums) == len(set(load.albums)) >= 25
        for uid, title in load.titles.items():
            assert call(new, token, "GET", f"/photos/{uid}")[1]["Title"] == title
        assert following.svc("db", "check", environ=environ).returncode == 0
    assert "Traceback" not in log.read_text()


def test_a_contraction_ends_the_versions_that_it_does_not_fit_and_no_others(environ, following, tmp_path):
    token, log = environ.pop("TOKEN"), tmp_path / "gunicorn.log"
    without = following.next(tmp_path / "without", oldest_code=SCHEMA_VERSION, upgrade="pass", change=leave_note)
    drop = "op.drop_column('photosvc_albums', 'note')"
    contracted = without.next(tmp_path / "contracted", oldest_code=without.schema, upgrade=drop)
    final = contracted.next(tmp_path / "final", oldest_code="", upgrade="pass")
    assert without.svc("db", "upgrade", "--online", environ=environ).returncode == 0
    with ExitStack() as stack:
        old, idle, fit = (stack.enter_context(one.serve(environ, log)) for one in (following, following, without))
        for port in (old, idle, fit):
            assert call(port, token, "POST", "/albums", {"Title": "Before"})[0] == 200
        load = stack.enter_context(Load(token, [fit]))
        assert contracted.svc("db", "upgrade", "--online", environ=environ).returncode == 0
        sentence = f"The database is at schema {contracted.schema}, newer than this photosvc ({following.schema})"
        # A request whose statement fails is told why; others are at the next look at the schema.
        assert call(old, token, "POST", "/albums", {"Title": "After"}) == (
            503,
            {"code": 503, "error": f"{sentence}: upgrade photosvc."},
        )
        refused = []  # by the first worker that looks; another one may look later

        def is_refused():
            status, body = call(idle, token, "GET", "/photos?count=1")
            refused.extend([body["error"]] if status == 503 else [])
            return bool(refused)

        wait(is_refused)
        assert refused == [f"{sentence}: upgrade photosvc."]
        command = following.svc("albums", "ls", environ=environ)
        assert (command.returncode, command.stderr) == (1, f"Error: {sentence}: upgrade photosvc.\n")
        load.goes_on_at(fit)
        load.__exit__()
        assert load.failures == []
    stopped = final.svc("db", "upgrade", "--online", environ=environ)
    assert stopped.returncode == 1
    assert stopped.stderr.splitlines()[-2:] == [
        f"Processes of schemas before {final.schema} must be stopped first: they cannot go on afterwards.",
        "Error: Nothing was migrated: stop all processes, and run `svc db upgrade` without --online.",
    ]
    assert contracted.svc("db", "current", environ=environ).stdout == f"{contracted.schema}\n"
    assert final.svc("db", "upgrade", environ=environ).returncode == 0
    assert contracted.svc("albums", "ls", environ=environ).returncode == 1
