"""Restarts of all kinds under a mixed load, through nginx as shipped: no request is lost.

`--log-cli-level INFO` shows the figures.

The servers have a socket that stays open while one makes way for the next, as the socket unit of systemd does.
"""

import http.client
import itertools
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack
from urllib.parse import urlencode

import pytest

from photosvc.cli.deploy import Deployment, files_of
from photosvc.core.clock import SYSTEM_CLOCK
from tests.app.oauth.oauth_client import GRANT, OAuthClients, basic
from tests.app.uploads.upload_client import picture, sha1
from tests.helpers.api_client import open_api
from tests.helpers.clock import until
from tests.helpers.library import SURROUNDINGS, SVC
from tests.helpers.programs.ports import free_port, wait_for
from tests.system.clients.test_nginx import main_file

pytestmark = pytest.mark.needs("nginx")
PHOTOS = 12
QUERIES = ("count=20", "q=lake", "order=oldest&count=7", "q=-lake&total=true", "type=image&merged=true")
JSON = "application/json"
LOG = logging.getLogger(__name__)
SECONDS = 40
#: Becomes gunicorn with the socket of this number, as systemd starts it.
AT_SOCKET = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.executable, [sys.executable, "-m", "gunicorn", *sys.argv[2:]])
"""


class Clients:
    """Clients of each kind, which go on until they are told to end, and note every answer that is not the right one.

    Args:
        api: of a library with some originals.
        port: of nginx.
    """

    def __init__(self, api, port):
        self.port, self.lost, self.answers, self.slowest = port, [], Counter(), 0.0
        self.token = api.app_password()
        self.client = OAuthClients(api.library).register(limit=-1)
        records = api.library.find(count=100)
        self.uids = sorted({record["UID"] for record in records})
        self.contents = {sha1(file.read_bytes()): file.read_bytes() for file in api.library.originals.glob("*.jpg")}
        self.preview = api.library.get("count=1").headers["X-Preview-Token"]
        self.titles, self.uploaded, self.granted = {}, [], []
        self._ended = threading.Event()
        kinds = (self._search, self._search, self._edit, self._upload, self._grant, self._download)
        self._threads = [threading.Thread(target=self._run, args=(kind,)) for kind in kinds]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _run(self, kind):
        for turn in itertools.count():
            if self._ended.is_set():
                return
            kind(turn)
            time.sleep(0.02)

    def _ask(self, kind, method, path, body=None, token="", **headers):
        """The body of an answer, which must be a 200, or a 201 for a new file."""
        shown = {} if "Authorization" in headers else {"X-Auth-Token": token or self.token}
        headers = {**shown, **{name.replace("_", "-"): headers[name] for name in headers}}
        connection, began = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600), time.monotonic()
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
            if answer.status != (201 if kind == "upload" else 200):
                self.lost.append((kind, path, answer.status, data[:200]))
        except (OSError, http.client.HTTPException) as error:
            self.lost.append((kind, path, 0, repr(error)))
            return None
        finally:
            connection.close()
            self.slowest = max(self.slowest, time.monotonic() - began)
        self.answers[kind] += 1
        return data if answer.status in {200, 201} else None

    def _search(self, turn):
        self._ask("search", "GET", f"/api/v1/photos?{QUERIES[turn % len(QUERIES)]}")

    def _edit(self, turn):
        uid, title = self.uids[turn % len(self.uids)], f"Title {turn}"
        if self._ask("edit", "PUT", f"/api/v1/photos/{uid}", json.dumps({"Title": title}), Content_Type=JSON):
            self.titles[uid] = title

    def _upload(self, turn):
        data = picture(1000 + turn)
        headers = {"Authorization": f"Bearer {self.token}"}
        if self._ask("upload", "PUT", f"/originals/new{turn:05}.jpg", data, **headers) is not None:
            self.uploaded.append(sha1(data))

    def _grant(self, _turn):
        headers = {"Authorization": basic(*self.client), "Content_Type": "application/x-www-form-urlencoded"}
        connection = self._ask("token", "POST", "/api/v1/oauth/token", urlencode(GRANT), **headers)
        if connection:
            token = json.loads(connection)["access_token"]
            self.granted.append(token)
            self._ask("token", "GET", "/api/v1/photos?count=1", token=token)

    def _download(self, turn):
        content_hash, data = list(self.contents.items())[turn % len(self.contents)]
        found = self._ask("download", "GET", f"/api/v1/dl/{content_hash}")
        if found is not None and found != data:
            self.lost.append(("download", content_hash, 200, b"other bytes"))
        self._ask("thumbnail", "GET", f"/api/v1/t/{content_hash}/{self.preview}/tile_224")


class Service:
    """The programs of a service as they are shipped: gunicorn at a socket that stays open, and `svc watch`.

    Args:
        environ: settings.
        folder: of the configuration and logs.
        listening: the socket.
    """

    def __init__(self, environ, folder, listening):
        self.environ, self.folder, self.listening = environ, folder, listening
        self.config = folder / "gunicorn.conf.py"
        self.config.write_text(files_of("gunicorn", Deployment())["gunicorn.conf.py"])
        self.log, self._starts = folder / "service.log", 0
        self.server, self.watcher = self._serve(), self._watch()

    def _serve(self):
        """Start a server, as `systemctl start` does, which returns when its master process is there."""
        self._starts += 1
        number = self.listening.fileno()
        gunicorn = ["--config", str(self.config), "photosvc.app:create_app()"]
        command = [sys.executable, "-c", AT_SOCKET, str(number), *gunicorn]
        server = self._start(command, self.log, {"LISTEN_FDS": "1"}, pass_fds=(number,))
        until(lambda: self.log.read_text().count("Listening at") == self._starts, seconds=900)
        return server

    def _watch(self):
        return self._start([str(SVC), "watch"], self.folder / "watch.log", {})

    def _start(self, command, log, environ, **options):
        with log.open("ab") as output:
            return subprocess.Popen(
                command,
                env={**SURROUNDINGS, **self.environ, **environ},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                **options,
            )

    def reload(self):
        """`systemctl reload photosvc`."""
        self.server.send_signal(signal.SIGHUP)

    def restart_watch(self):
        """`systemctl restart photosvc-watch`."""
        self._end(self.watcher)
        self.watcher = self._watch()

    def kill_watch(self):
        self.watcher.kill()
        self.watcher.wait(600)
        self.watcher = self._watch()

    def restart(self):
        """`systemctl restart photosvc photosvc-watch`."""
        self._end(self.server)
        self.server = self._serve()
        self.restart_watch()

    def end(self):
        for process in (self.server, self.watcher):
            if process.poll() is None:
                self._end(process)

    def _end(self, process):
        process.terminate()
        process.wait(600)


@pytest.mark.timeout(3600)
def test_no_request_is_lost_while_all_parts_of_a_service_are_restarted(tmp_path):
    with ExitStack() as stack:
        api = stack.enter_context(open_api(tmp_path))
        api.clock.present = SYSTEM_CLOCK()
        for number in range(PHOTOS):
            api.library.put(f"p{number:02}.jpg", picture(number))
        assert api.library.index().indexed == PHOTOS
        port, listening = free_port(), stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=2048))
        upstream = "{}:{}".format(*listening.getsockname())
        config = main_file(tmp_path, port, upstream, api.library)
        # A server may take long to start on a busy machine, and requests wait for it at the socket.
        config.write_text(config.read_text().replace("http { types", "http { proxy_read_timeout 10m; types"))
        nginx = ["nginx", "-c", str(config), "-e", str(tmp_path / "error.log")]
        front = stack.enter_context(subprocess.Popen(nginx, stderr=subprocess.DEVNULL))
        stack.callback(front.terminate)
        environ = {
            "PHOTOSVC_INSTANCE": str(api.library.instance),
            "PHOTOSVC_SENDFILE_HEADER": "X-Accel-Redirect",
            "PHOTOSVC_PROXIES": "1",
        }
        service = Service(environ, tmp_path, listening)
        stack.callback(service.end)
        wait_for(port)
        clients = Clients(api, port)
        for turn in range(PHOTOS):  # the cache has all thumbnails, which nginx then sends
            clients._download(turn)
        assert clients.lost == []
        clients.slowest = 0.0
        events = Counter()
        began, pause = time.monotonic(), SECONDS / 6
        steps = (service.reload, service.restart_watch, service.restart, service.reload, service.kill_watch)
        with clients:
            for step in itertools.cycle(steps):
                time.sleep(pause)
                step()
                events[step.__name__] += 1
                if time.monotonic() - began > SECONDS and len(events) == len(set(steps)):
                    break
            before = clients.answers.copy()
            until(lambda: all(clients.answers[kind] > before[kind] for kind in before), seconds=900)
        took = time.monotonic() - began
        LOG.info("%.0f s, load %.0f: %s; %s", took, os.getloadavg()[0], dict(events), dict(clients.answers))
        LOG.info("slowest answer %.1f s; lost: %s", clients.slowest, len(clients.lost))
        assert clients.lost == []
        assert min(clients.answers.values()) >= 5
        assert len(set(clients.granted)) == len(clients.granted)

        def is_found(content_hash):
            return clients._ask("end", "GET", f"/api/v1/files/{content_hash}") is not None

        until(lambda: len(api.library.find(count=100_000)) == PHOTOS + len(clients.uploaded), seconds=900)
        assert all(is_found(one) for one in clients.uploaded)
        for uid, title in clients.titles.items():
            found = clients._ask("end", "GET", f"/api/v1/photos/{uid}")
            assert json.loads(found)["Title"] == title
        for token in clients.granted:
            assert clients._ask("end", "GET", "/api/v1/photos?count=1", token=token) is not None
        assert clients.lost == []
        assert "Traceback" not in service.log.read_text()
