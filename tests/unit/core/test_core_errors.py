import pickle
from datetime import UTC, datetime

import pytest

from photosvc.auth import errors as auth_errors
from photosvc.core import errors
from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import in_host
from photosvc.core.times import ZERO_TIME
from photosvc.media import errors as media_errors


def kinds(kind=errors.PhotosvcError):
    yield kind
    for child in kind.__subclasses__():
        yield from kinds(child)


def test_the_default_message_is_the_first_line_of_the_docstring():
    assert errors.NotFoundError().message == "No such thing."
    assert errors.NotFoundError("No album.").message == str(errors.NotFoundError("No album.")) == "No album."


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        (errors.InvalidValueError, 400, 2), (errors.NotFoundError, 404, 3), (errors.ConflictError, 409, 1),
        (errors.PermissionDeniedError, 403, 1), (errors.SettingError, 500, 2), (errors.SchemaError, 503, 1),
    ],
)  # fmt: skip
def test_each_class_has_its_status_and_exit_code(kind, status, code):
    assert (kind.status, kind.exit_code) == (status, code)


def test_the_docstring_of_every_class_begins_with_a_sentence():
    assert auth_errors
    assert media_errors
    for kind in kinds():
        assert kind.__doc__, kind
        assert kind.__doc__.splitlines()[0].rstrip().endswith("."), kind


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidValueError("no", field="count"), media_errors.MissingExtraError("raw"),
        auth_errors.ThrottledError(7), auth_errors.InsufficientScopeError("photos read"),
    ],
)  # fmt: skip
def test_pickled_errors_keep_all_attributes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.__dict__, copy.args) == (type(error), error.__dict__, error.args)


def test_the_clock_is_aware_and_in_utc():
    before = datetime.now(UTC)  # noqa: TID251 - compared with the clock
    assert before <= SYSTEM_CLOCK()
    assert SYSTEM_CLOCK().tzinfo is UTC
    assert ZERO_TIME.isoformat() == "0001-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("run svc db upgrade, then svc index", "run flask svc db upgrade, then flask svc index"),
        ("flask svc index", "flask svc index"),
        ("/opt/svc run and my-svc run", "/opt/svc run and my-svc run"),
        ("the svc.", "the svc."),
    ],
)
def test_messages_in_a_host_name_its_commands(message, told):
    assert in_host(message) == told
