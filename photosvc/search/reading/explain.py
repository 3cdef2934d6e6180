"""Explanations of searches: their parsed and resolved nodes, their plan, their SQL, and the database's own plan."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from sqlalchemy import Connection

from photosvc.models.search_values import Term
from photosvc.query.nodes import And, Filter, Node, Not, Or, Word
from photosvc.query.parser import understand
from photosvc.search.reading.request import SearchRequest
from photosvc.search.reading.window import Search, plain_query, prepare
from photosvc.search.reading.words import MOST_RANKED, as_whole

_EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN "}
#: Styles of parameters with a percent sign, for which SQLAlchemy writes every other percent sign twice.
_DOUBLING = frozenset({"format", "pyformat"})


@dataclass(frozen=True, slots=True)
class Count:
    """The number of photos or files that the index of some conditions finds."""

    conditions: str
    found: int
    limit: int
    """The most that are sorted; counting stops at one more."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One search explained, as text."""

    understood: list[str]
    """The words of the query that mean a filter, each with what it means."""
    parsed: list[str]
    """The query as parsed, one node a line, indented by depth."""
    resolved: list[str]
    """The same with ids in place of names, from which the SQL is made."""
    ranked: list[str]
    """The words that the order ranks by, each with its other forms."""
    plan: str
    """The planner's choice (`plan.Driver`)."""
    counts: list[Count]
    """The numbers that the planner counted."""
    sql: str
    """The statement that finds the rows, with its values."""
    steps: list[str]
    """The steps by which the database runs it."""


def explain(connection: Connection, request: SearchRequest, query: str = "", *, sees_private: bool) -> Explanation:
    """Explain the statement that finds the rows of a page."""
    search = prepare(connection, request, sees_private=sees_private)
    sql = _literal_sql(search)
    counts = [
        Count(" & ".join(_describe(part) for part in counted.parts), counted.count, counted.limit)
        for counted in search.plan.counted
    ]
    return Explanation(
        understood=[f"{query[one.start : one.end]} = {one.meaning.text}" for one in understand(query, request.today)],
        parsed=list(_lines(request.node)),
        resolved=list(_lines(search.node)),
        ranked=[_rank_of(term) for term in request.ranked[:MOST_RANKED]],
        plan=search.plan.driver,
        counts=counts,
        sql=sql,
        steps=_steps(connection, sql),
    )


def _rank_of(term: Term) -> str:
    whole = as_whole(term)
    either = " or ".join((whole.text, *whole.forms)) if isinstance(whole, Word) else " ".join(whole.words)
    return f"{either} before longer words" if term.prefix else either


def _literal_sql(search: Search) -> str:
    request = search.request
    if search.is_plain:
        by_cursor, sees_private = request.cursor is not None, search.context.sees_private
        query = plain_query(request.order, sees_private=sees_private, by_cursor=by_cursor, with_results=False)
        query = query.params(search.plain_values(request.start, request.count))
    else:
        query = search.window_query(request.start, request.count)
    dialect = search.connection.dialect  # it knows from the database how backslashes are read
    sql = str(query.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
    return sql.replace("%%", "%") if dialect.paramstyle in _DOUBLING else sql


def _steps(connection: Connection, sql: str) -> list[str]:
    # The statement has no parameters, so the driver must not look for any in its texts.
    rows = connection.exec_driver_sql(
        _EXPLAIN[connection.dialect.name] + sql, execution_options={"no_parameters": True}
    )
    return [str(row[-1]) for row in rows]


def _lines(node: Node, depth: int = 0) -> Iterator[str]:
    """Yield the node and its parts, one a line."""
    indent = "  " * depth
    match node:
        case And(parts) | Or(parts):
            yield indent + type(node).__name__
            for part in parts:
                yield from _lines(part, depth + 1)
        case Not(part):
            yield f"{indent}Not"
            yield from _lines(part, depth + 1)
        case _:
            yield indent + _describe(node)


def _describe(node: object) -> str:
    """Return a node or operand in Python's notation, without fields that have no value."""
    if isinstance(node, Filter):
        return f"Filter {node.name}: {_describe(node.value)}"
    if isinstance(node, tuple) and not hasattr(node, "_fields"):
        return "(" + ", ".join(map(_describe, node)) + ")"
    if is_dataclass(node) and not isinstance(node, type):
        values = ((field.name, getattr(node, field.name)) for field in fields(node))
        given = (f"{name}={_describe(value)}" for name, value in values if value is not None and value != ())
        return f"{type(node).__name__}({', '.join(given)})"
    return repr(node)
