"""Traces by OpenTelemetry: a span for each request, and below it for its search and its statements of the database.

The libraries are an optional extra, imported only if a collector is set. A span has the route of its request, never its
path or query, which may contain tokens; that of a statement has its text without values.
"""

import sqlite3
from typing import TYPE_CHECKING, Any, Final

from flask import Flask, Response, current_app, g, request
from sqlalchemy import Engine, event

from photosvc import __version__
from photosvc.core.errors import SettingError
from photosvc.core.logs import add_to_lines

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

#: Key of the tracer in `Flask.extensions`.
TRACER: Final = "photosvc_tracer"
#: Most characters of a statement.
_LONGEST: Final = 2000


def provider_of(collector: str) -> "TracerProvider":
    """Return a provider whose spans are sent to this address of a collector, by OTLP over HTTP.

    Raises:
        SettingError: the libraries are not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        msg = "PHOTOSVC_TRACES needs OpenTelemetry: run pip install 'photosvc[tracing]'"
        raise SettingError(msg, field="PHOTOSVC_TRACES") from None
    about = {"service.name": "photosvc", "service.version": __version__}
    provider = TracerProvider(resource=Resource.create(about))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=collector)))
    return provider


def trace_app(app: Flask, provider: "TracerProvider", *engines: Engine, proxies: int) -> None:
    """Make spans for the requests of an app and for the statements of its engines, before any of them is used.

    With trusted proxies, a request continues the trace that its header names.
    """
    tracer = provider.get_tracer("photosvc", __version__)
    app.extensions[TRACER] = tracer
    app.before_request(lambda: _begin(tracer, proxies=proxies))
    app.after_request(_note_answer)
    app.teardown_request(_end)
    for engine in engines:
        _trace_statements(engine, tracer)
    add_to_lines("photosvc", _ids)


def _begin(tracer: "Tracer", *, proxies: int) -> None:
    from opentelemetry.context import attach
    from opentelemetry.trace import SpanKind, set_span_in_context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    names = {name: request.headers[name] for name in ("traceparent", "tracestate") if name in request.headers}
    parent = TraceContextTextMapPropagator().extract(names) if proxies else None
    route = None if request.url_rule is None else request.url_rule.rule
    attributes = {"http.request.method": request.method, **({} if route is None else {"http.route": route})}
    name = request.method if route is None else f"{request.method} {route}"
    g.photosvc_span = span = tracer.start_span(name, parent, SpanKind.SERVER, attributes)
    g.photosvc_span_token = attach(set_span_in_context(span))


def _note_answer(answer: Response) -> Response:
    span: Span | None = g.get("photosvc_span")
    if span is not None:
        span.set_attribute("http.response.status_code", answer.status_code)
    return answer


def _end(error: BaseException | None) -> None:
    from opentelemetry.context import detach
    from opentelemetry.trace import StatusCode

    span: Span | None = g.pop("photosvc_span", None)
    if span is None:
        return
    detach(g.pop("photosvc_span_token"))
    if error is not None:
        span.set_status(StatusCode.ERROR, type(error).__name__)
    span.end()


def _ids() -> dict[str, str]:
    """Return the ids of the trace and of the span at work; empty outside of them."""
    from opentelemetry.trace import format_span_id, format_trace_id, get_current_span

    context = get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": format_trace_id(context.trace_id), "span_id": format_span_id(context.span_id)}


def trace_ids() -> dict[str, str]:
    """Return the ids of the trace and of the span of the current request; empty if requests are not traced."""
    return _ids() if TRACER in current_app.extensions else {}


class _Statement:
    """The span of one cursor's statement, from its beginning until its rows have been read."""

    __slots__ = ("_span", "_system", "_tracer")

    def __init__(self, tracer: "Tracer", system: str) -> None:
        self._tracer, self._system = tracer, system
        self._span: Span | None = None

    def begin(self, text: object) -> None:
        """Begin the span of a statement, if there is one of a request around it."""
        from opentelemetry.trace import SpanKind, get_current_span

        self.end()
        if get_current_span().is_recording():
            statement = str(text)
            attributes = {"db.system.name": self._system, "db.query.text": statement[:_LONGEST]}
            verb = statement.lstrip().partition(" ")[0].upper()[:20]
            self._span = self._tracer.start_span(verb, kind=SpanKind.CLIENT, attributes=attributes)

    def fail(self, error: Exception) -> None:
        """End the span of a statement that the database has refused."""
        from opentelemetry.trace import StatusCode

        if self._span is not None:
            self._span.set_status(StatusCode.ERROR, type(error).__name__)
        self.end()

    def end(self) -> None:
        """End the span, if there is one."""
        if self._span is not None:
            self._span.end()
            self._span = None


def _traced(cursor: type[Any], tracer: "Tracer", system: str) -> type[Any]:
    """Return a class of cursors whose statements have spans."""

    class Traced(cursor):  # type: ignore[misc] # sqlite3's or psycopg's
        def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - the driver's
            super().__init__(*arguments, **options)
            self.photosvc_statement = _Statement(tracer, system)

        def execute(self, query: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - the driver's
            self.photosvc_statement.begin(query)
            try:
                return super().execute(query, *arguments, **options)
            except Exception as error:
                self.photosvc_statement.fail(error)
                raise

        def close(self) -> None:
            super().close()
            self.photosvc_statement.end()

    return Traced


def _trace_statements(engine: Engine, tracer: "Tracer") -> None:
    """Let all cursors of the engine's connections make spans, also those that are used without SQLAlchemy."""
    if engine.dialect.name == "sqlite":
        cursor = _traced(sqlite3.Cursor, tracer, "sqlite")

        class Connected(sqlite3.Connection):
            def cursor(self, *_factory: Any) -> Any:  # noqa: ANN401 - as the class has it
                return super().cursor(cursor)

        @event.listens_for(engine, "do_connect")
        def _before(_dialect: Any, _record: Any, _given: Any, options: dict[str, Any]) -> None:  # noqa: ANN401
            options["factory"] = Connected

        return

    @event.listens_for(engine, "connect")
    def _after(connection: Any, _record: Any) -> None:  # noqa: ANN401
        connection.cursor_factory = _traced(connection.cursor_factory, tracer, "postgresql")
