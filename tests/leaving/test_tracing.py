"""Traces of requests: spans for request, search and statements, without secrets, and their ids in the log."""

import json
import logging
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("opentelemetry.sdk", reason="the extra tracing is not installed")
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from photosvc.core.errors import SettingError
from photosvc.core.logs import write_lines
from photosvc.web.current import current_service
from photosvc.web.tracing import trace_app
from tests.helpers.library import open_library
from tests.helpers.pictures import jpeg
from tests.helpers.programs.server import serve

#: As another service sends it (W3C Trace Context).
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture(params=["sqlite", "postgresql"])
def library(request, tmp_path):
    """An app whose spans are kept in memory, on a database of one kind and then of the other."""
    settings = {"PHOTOSVC_PROXIES": 1, "PHOTOSVC_ACCESS_LOG": True}
    if request.param == "postgresql":
        settings["PHOTOSVC_DATABASE_URI"] = request.getfixturevalue("new_postgres")()
    opened = open_library(tmp_path / "instance", settings=settings)
    opened.put("lake.jpg", jpeg(64, 48))
    opened.index()
    opened.close()  # connections from before are not traced
    yield opened
    opened.close()


@pytest.fixture
def spans(library):
    """The function that gives the spans that have ended since it was last called, oldest first."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with library.app.app_context():
        trace_app(library.app, provider, current_service().engine(), proxies=1)

    def take():
        found = sorted(exporter.get_finished_spans(), key=lambda one: one.start_time)
        exporter.clear()
        return found

    return take


@pytest.mark.slow
def test_a_search_has_a_span_below_its_request_and_statements_below_that(library, spans):
    token = library.token()
    spans()
    assert library.get({"q": "name:lake"}, token=token).status_code == 200
    found = spans()
    (root,) = [one for one in found if one.parent is None]
    assert root.name == "GET /api/v1/photos"
    assert dict(root.attributes) == {
        "http.request.method": "GET",
        "http.route": "/api/v1/photos",
        "http.response.status_code": 200,
    }
    (search,) = [one for one in found if one.name == "search"]
    assert search.parent.span_id == root.context.span_id
    statements = [one for one in found if "db.query.text" in one.attributes]
    (page,) = [one for one in statements if "photosvc_search_documents" in one.attributes["db.query.text"]][:1]
    assert (page.parent.span_id, page.name) == (search.context.span_id, "SELECT")
    assert {one.attributes["db.system.name"] for one in statements} <= {"sqlite", "postgresql"}
    assert {one.context.trace_id for one in found} == {root.context.trace_id}
    assert all(one.end_time <= root.end_time for one in found)


def test_spans_have_no_token_query_or_value(library, spans):
    token = library.token()
    spans()
    library.get({"q": "name:verysecretname"}, token=token)
    library.get(path="/api/v1/t/0123456789012345678901234567890123456789/public-token/fit_720", token=token)
    library.get(path="/api/v1/nothing/secretpath", token=token)
    texts = "".join(one.to_json() for one in spans())
    for secret in (token, "verysecretname", "public-token", "secretpath"):
        assert secret not in texts


def test_a_request_continues_the_trace_that_a_trusted_proxy_names(library, spans):
    library.app.test_client().get("/api/v1/healthz", headers={"traceparent": PARENT})
    (root,) = spans()
    assert f"{root.context.trace_id:032x}" == PARENT.split("-")[1]
    assert f"{root.parent.span_id:016x}" == PARENT.split("-")[2]
    library.app.test_client().get("/api/v1/healthz", headers={"traceparent": "00-forged\n-1"[:9]})
    (root,) = spans()
    assert root.parent is None


def test_lines_of_the_log_have_the_ids_of_their_request(library, spans, caplog, capsys, monkeypatch):
    library.get(token="0" * 48)
    (root,) = [one for one in spans() if one.parent is None]
    monkeypatch.setattr(logging.root, "handlers", [])  # as where the operator has not configured logging
    write_lines("photosvc", "json")
    log = logging.getLogger("photosvc")
    log.warning("outside")
    with library.app.test_request_context():
        library.app.preprocess_request()
        log.warning("inside")
    write_lines("photosvc", "text")
    (inside,) = [one for one in spans() if one.parent is None]
    outside, told = map(json.loads, capsys.readouterr().err.splitlines())
    assert (outside["message"], told["message"]) == ("outside", "inside")
    assert "trace_id" not in outside
    assert told["trace_id"] == f"{inside.context.trace_id:032x}"
    assert told["span_id"] == f"{inside.context.span_id:016x}"
    (line,) = [one.getMessage() for one in caplog.records if one.name == "photosvc.access"]
    assert f" trace_id={root.context.trace_id:032x} " in line


def test_a_statement_that_fails_ends_its_span(library, spans):
    with library.app.app_context():
        engine = current_service().engine()
        from sqlalchemy import text
        from sqlalchemy.exc import DBAPIError

        tracer = library.app.extensions["photosvc_tracer"]
        with tracer.start_as_current_span("around"), engine.connect() as connection, pytest.raises(DBAPIError):
            connection.execute(text("SELECT nothing FROM nowhere"))
    found = {one.name: one for one in spans()}
    assert found["SELECT"].status.is_ok is False
    assert found["SELECT"].parent.span_id == found["around"].context.span_id


def test_without_the_extra_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(SettingError) as caught:
        open_library(tmp_path / "instance", settings={"PHOTOSVC_TRACES": "http://localhost:4318/v1/traces"})
    assert str(caught.value) == "PHOTOSVC_TRACES needs OpenTelemetry: run pip install 'photosvc[tracing]'"


def test_without_the_setting_nothing_is_traced(tmp_path):
    opened = open_library(tmp_path / "instance")
    assert "photosvc_tracer" not in opened.app.extensions
    opened.close()


@pytest.mark.slow
def test_a_server_sends_its_spans_to_the_collector(tmp_path):
    bodies, arrived = [], threading.Event()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()
            arrived.set()

        def log_message(self, *_):
            """Print nothing."""

    opened = open_library(tmp_path / "instance")
    token = opened.token()
    opened.close()
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as collector:
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        environ = {
            "PHOTOSVC_TRACES": f"http://127.0.0.1:{collector.server_port}/v1/traces",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        }
        with serve(opened.instance, workers=1, environ=environ) as address:
            with urlopen(Request(f"{address}/api/v1/photos", headers={"X-Auth-Token": token}), timeout=30) as answer:
                assert answer.status == 200
            assert arrived.wait(60)
        collector.shutdown()
    assert bodies[0][0] == "/v1/traces"
    assert b"GET /api/v1/photos" in b"".join(body for _, body in bodies)
