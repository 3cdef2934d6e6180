"""What a search asks for, parsed from parameters (spec section 4.2)."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from photosvc.core.errors import InvalidValueError
from photosvc.search.cursor import Cursor, parse_cursor
from photosvc.search.orders import DEFAULT_ORDER, PRIME, Order, order_named

DEFAULT_COUNT = 100
MAX_COUNT = 100_000
_MAX_OFFSET = 2**53

_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "1", "on"), True),
    **dict.fromkeys(("false", "no", "0", "off"), False),
}


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A page of a search: how much, from where, in which order."""

    count: int
    offset: int
    order: Order
    seed: int
    primary: bool
    cursor: Cursor | None


def parse_request(parameters: Mapping[str, str]) -> SearchRequest:
    """The request these parameters make; an empty value is an absent one.

    Raises:
        InvalidValueError: a value is not valid; `field` names the parameter.

    """
    given = {name: value.strip() for name, value in parameters.items() if value.strip()}
    cursor = parse_cursor(given["cursor"]) if "cursor" in given else None
    order = order_named(given.get("order", cursor.order if cursor else DEFAULT_ORDER))
    seed = _integer(given, "seed", 0, PRIME - 1, secrets.randbelow(PRIME) if order.name == "random" else 0)
    offset = _integer(given, "offset", 0, _MAX_OFFSET, 0)
    if cursor:
        _check_cursor(cursor, order, given)
        seed, offset = cursor.seed, cursor.position
    return SearchRequest(
        count=min(_integer(given, "count", 1, _MAX_OFFSET, DEFAULT_COUNT), MAX_COUNT),
        offset=offset,
        order=order,
        seed=seed,
        primary=_boolean(given, "primary"),
        cursor=cursor,
    )


def _check_cursor(cursor: Cursor, order: Order, given: Mapping[str, str]) -> None:
    if "offset" in given:
        msg = "offset and cursor are two ways to say where a page begins; send one"
        raise InvalidValueError(msg, field="offset")
    kinds = [column.type.python_type for column in order.columns(0)]
    fits = cursor.order == order.name and given.get("seed", str(cursor.seed)) == str(cursor.seed)
    if not fits or cursor.seed >= PRIME or [type(value) for value in cursor.values] != kinds:
        msg = "cursor belongs to another search; begin again without it"
        raise InvalidValueError(msg, field="cursor")


def _integer(given: Mapping[str, str], name: str, low: int, high: int, default: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    digits = text.removeprefix("+")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20 and low <= int(digits)):
        msg = f"{name} must be a whole number from {low}"
        raise InvalidValueError(msg, field=name)
    return min(int(digits), high)


def _boolean(given: Mapping[str, str], name: str) -> bool:
    value = _BOOLEANS.get(given.get(name, "false").lower())
    if value is None:
        msg = f"{name} must be true or false"
        raise InvalidValueError(msg, field=name)
    return value
