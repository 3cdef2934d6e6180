"""Single objects of a bucket, copied and deleted on the server: nothing is replaced, and nothing deleted unseen."""

from dataclasses import replace

import pytest

from photosvc.storage.bucket import Bucket, BucketError
from photosvc.storage.objects import (
    BucketFullError,
    MayNotDeleteError,
    MayNotWriteError,
    ObjectChangedError,
    ObjectTakenError,
    ObjectTooLargeError,
    copy,
    delete,
    find,
)
from tests.leaving.storage.conftest import BUCKET, PREFIX, stored

pytestmark = pytest.mark.slow

NAME = "year 2020/ä & +%.jpg"


@pytest.fixture
def bucket(store, tmp_path):
    return Bucket(BUCKET, f"{PREFIX}/", store.address, tmp_path)


def content(key):
    found = stored(f"{PREFIX}/{key}")
    return None if found is None else found.value


def before(store, method, act):
    """Call `act` once, before the store carries out the first request of this method."""

    def fault(environ):
        if environ["REQUEST_METHOD"] == method:
            store.fault = lambda _: None
            return act(environ)
        return None

    store.fault = fault


def refuse(status, code):
    return lambda _environ: (status, [], f"<Error><Code>{code}</Code></Error>".encode())


def without_conditions(environ):
    """Take the conditions away, as a store does that ignores them."""
    for name in ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_X_AMZ_COPY_SOURCE_IF_MATCH"):
        environ.pop(name, None)


def test_a_copy_is_as_lists_describe_it_and_the_object_stays(bucket, store):
    store.put(NAME, b"abc")
    source = find(bucket, NAME)
    made = copy(bucket, source, f".photosvc/trash/a/{NAME}")
    assert (made.key, made.size, made.etag) == (f".photosvc/trash/a/{NAME}", 3, "900150983cd24fb0d6963f7d28e17f72")
    assert list(bucket.objects()) == [made, source]
    assert (content(made.key), content(NAME)) == (b"abc", b"abc")


def test_a_deleted_object_is_gone_and_may_be_deleted_again(bucket, store):
    store.put(NAME, b"abc")
    listed = find(bucket, NAME)
    delete(bucket, listed)
    assert find(bucket, NAME) is None
    delete(bucket, listed)


def test_metadata_is_copied(bucket, store):
    client = store.client()
    client.put_object(Bucket=BUCKET, Key=f"{PREFIX}/a", Body=b"abc", ContentType="image/jpeg", Metadata={"by": "ann"})
    copy(bucket, find(bucket, "a"), "b")
    head = client.head_object(Bucket=BUCKET, Key=f"{PREFIX}/b")
    assert (head["ContentType"], head["Metadata"]) == ("image/jpeg", {"by": "ann"})
    client.close()


def test_a_copy_replaces_nothing(bucket, store):
    store.put("a", b"abc")
    store.put("b", b"mine")
    with pytest.raises(ObjectTakenError):
        copy(bucket, find(bucket, "a"), "b")
    assert content("b") == b"mine"


def test_a_copy_replaces_no_object_that_is_stored_at_the_same_moment(bucket, store):
    store.put("a", b"abc")
    source = find(bucket, "a")
    before(store, "PUT", lambda _: store.put("b", b"mine"))
    with pytest.raises(ObjectTakenError):
        copy(bucket, source, "b")
    assert content("b") == b"mine"


def test_another_version_is_not_copied(bucket, store):
    store.put("a", b"abc")
    source = find(bucket, "a")
    store.put("a", b"xyz")
    with pytest.raises(ObjectChangedError):
        copy(bucket, source, "b")
    assert content("b") is None


def test_an_object_that_is_gone_is_not_copied(bucket, store):
    store.put("a", b"abc")
    source = find(bucket, "a")
    store.delete("a")
    with pytest.raises(ObjectChangedError):
        copy(bucket, source, "b")


@pytest.mark.parametrize("data", [b"xyz", b"longer"])
def test_another_version_is_not_deleted(bucket, store, data):
    store.put("a", b"abc")
    listed = find(bucket, "a")
    store.put("a", data)
    with pytest.raises(ObjectChangedError):
        delete(bucket, listed)
    assert content("a") == data


def test_a_version_that_is_stored_at_the_same_moment_is_not_deleted(bucket, store):
    store.put("a", b"abc")
    listed = find(bucket, "a")
    before(store, "DELETE", lambda _: store.put("a", b"xyz"))
    with pytest.raises(ObjectChangedError):
        delete(bucket, listed)
    assert content("a") == b"xyz"


def test_a_store_that_ignores_conditions_copies_and_deletes(bucket, store):
    store.put("a", b"abc")
    store.fault = without_conditions
    source = find(bucket, "a")
    copy(bucket, source, "b")
    delete(bucket, source)
    assert (content("a"), content("b")) == (None, b"abc")
    store.put("a", b"mine")
    with pytest.raises(ObjectTakenError):
        copy(bucket, find(bucket, "b"), "a")
    with pytest.raises(ObjectChangedError):
        delete(bucket, source)
    assert (content("a"), content("b")) == (b"mine", b"abc")


def test_a_store_that_refuses_conditions_is_asked_without_them(bucket, store):
    def fault(environ):
        if "HTTP_IF_MATCH" in environ or "HTTP_IF_NONE_MATCH" in environ:
            return refuse("501 Not Implemented", "NotImplemented")(environ)
        return None

    store.put("a", b"abc")
    store.fault = fault
    source = find(bucket, "a")
    copy(bucket, source, "b")
    delete(bucket, source)
    assert (content("a"), content("b")) == (None, b"abc")


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        ("403 Forbidden", "AccessDenied", MayNotWriteError),
        ("403 Forbidden", "QuotaExceeded", BucketFullError),
        ("400 Bad Request", "EntityTooLarge", ObjectTooLargeError),
        ("503 Slow Down", "SlowDown", BucketError),
    ],
)
def test_a_refused_copy_is_named(bucket, store, status, code, error):
    store.put("a", b"abc")
    source = find(bucket, "a")
    store.fault = lambda environ: refuse(status, code)(environ) if environ["REQUEST_METHOD"] == "PUT" else None
    with pytest.raises(error):
        copy(bucket, source, "b")
    assert (content("a"), content("b")) == (b"abc", None)


@pytest.mark.parametrize("code", ["&lt;script&gt;", "a\nb", "x" * 61, "Grün"])
def test_a_code_that_is_none_is_not_repeated(bucket, store, code):
    store.fault = lambda _: ("500 Internal Server Error", [], f"<Error><Code>{code}</Code></Error>".encode())
    with pytest.raises(BucketError) as raised:
        next(bucket.objects(), None)
    assert str(raised.value) == f"The store of {bucket.address} answers with an error (unknown code)."


def test_a_refused_deletion_names_the_right(bucket, store):
    store.put("a", b"abc")
    listed = find(bucket, "a")
    before(store, "DELETE", refuse("403 Forbidden", "AccessDenied"))
    with pytest.raises(MayNotDeleteError, match="they need the right s3:DeleteObject"):
        delete(bucket, listed)
    assert content("a") == b"abc"


def test_an_object_over_five_gib_is_refused_without_a_request(bucket, store):
    store.put("a", b"abc")
    source = replace(find(bucket, "a"), size=(5 << 30) + 1)
    asked = []
    store.fault = asked.append
    with pytest.raises(ObjectTooLargeError, match=r"stores or copies at once \(5 GiB\)"):
        copy(bucket, source, "b")
    assert asked == []
