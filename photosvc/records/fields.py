"""Field types that Marshmallow does not have."""

from datetime import UTC, datetime
from typing import Any

from marshmallow import fields

from photosvc.core.clock import ZERO_TIME


class Timestamp(fields.Field[datetime]):
    """RFC 3339 in UTC, whole seconds and `Z`; an unset time is the zero timestamp (spec section 2.2)."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str:  # noqa: ANN401, ARG002
        return rfc3339(value or ZERO_TIME)


class NullableTimestamp(fields.Field[datetime]):
    """RFC 3339 like `Timestamp`, but an unset time is null: for records other than those of spec section 2.2."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str | None:  # noqa: ANN401, ARG002
        return None if value is None else rfc3339(value)


def rfc3339(moment: datetime) -> str:
    """An aware time as RFC 3339 in UTC; the year has four digits even before 1000."""
    return moment.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat() + "Z"


class Decimal(fields.Float):
    """A finite number, rounded to `places` decimal places."""

    def __init__(self, *, places: int, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(**kwargs)
        self.places = places

    def _serialize(self, value: float | None, attr: str | None, obj: Any, **kwargs: Any) -> float:  # noqa: ANN401, ARG002
        return round(value or 0.0, self.places)
