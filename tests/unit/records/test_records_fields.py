from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import Schema, fields

from photosvc.records.fields import AnyCaseSchema, Decimal, NullableTimestamp, Timestamp, compile_schema
from tests.helpers.examples import examples


class Both(Schema):
    at = Timestamp()
    number = Decimal(places=2)


def dumped(**values):
    return Both().dump(values)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (None, "0001-01-01T00:00:00Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
        (datetime(987, 6, 5, 4, 3, 2, 999_999, tzinfo=UTC), "0987-06-05T04:03:02Z"),
        (datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2019-12-31T23:00:00Z"),
        (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), "9999-12-31T23:59:59Z"),
    ],
)
def test_a_time_is_written_in_utc_with_whole_seconds(moment, text):
    assert dumped(at=moment) == {"at": text}


@pytest.mark.parametrize(("value", "number"), [(None, 0.0), (0, 0), (2.8, 2.8), (1 / 3, 0.33), (-1.005, -1.0)])
def test_a_number_is_rounded_to_its_places(value, number):
    assert dumped(number=value) == {"number": pytest.approx(number)}


@examples(100)
@given(st.floats(-1e9, 1e9))
def test_a_rounded_number_is_close_to_the_number(value):
    assert abs(dumped(number=value)["number"] - value) <= 0.0051


class Inner(Schema):
    name = fields.String(attribute="owner.name")
    at = Timestamp()


class Outer(Schema):
    text = fields.String()
    fixed = fields.Constant("as it is")
    doubled = fields.Function(lambda thing: thing.number * 2)
    number = Decimal(places=2)
    one = fields.Nested(Inner, attribute="inner")
    itself = fields.Nested(Inner, attribute="inner", dump_only=True)
    many = fields.List(fields.Nested(Inner), attribute="every")
    at = NullableTimestamp()


def test_a_compiled_schema_dumps_what_the_schema_dumps_in_its_order():
    inner = SimpleNamespace(owner=SimpleNamespace(name="Ann"), at=datetime(2020, 1, 2, tzinfo=UTC))
    for every, at in (([], None), ([inner, inner], inner.at)):
        thing = SimpleNamespace(text="x", number=1.239, inner=inner, every=every, at=at)
        dumped = compile_schema(Outer())(thing)
        assert dumped == Outer().dump(thing)
        assert list(dumped) == ["text", "fixed", "doubled", "number", "one", "itself", "many", "at"]


def test_a_compiled_schema_of_one_attribute_dumps_its_value():
    assert compile_schema(Outer(only=("text",)))(SimpleNamespace(text="x")) == {"text": "x"}


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ({"time_zone": "a", "TIMEZONE": "b", "timezone": "c"}, "c"),
        ({"timezone": "c", "TIMEZONE": "b", "time_zone": "a"}, "a"),
        ({"TimeZone": "exact", "timezone": "c"}, "exact"),
    ],
)
def test_of_several_spellings_of_a_name_the_exact_one_or_the_last_one_counts(sent, value):
    schema = AnyCaseSchema.from_dict({"TimeZone": fields.String()})
    assert schema().load(sent) == {"TimeZone": value}
