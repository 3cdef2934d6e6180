"""The admission gate: the shares of the threads, and the answers to refused requests."""

import pytest

from photosvc.core.errors import PhotosvcError
from photosvc.search import limits
from photosvc.web.admission_gate import AdmissionGate, Cost, NotAdmittedError
from photosvc.web.protector import principal
from photosvc.web.service import current_service
from tests.helpers.api_client import check_error


@pytest.fixture
def service(library):
    with library.app.app_context():
        service = current_service()
    yield service
    library.clock.step = 0
    service.gate.let_serve(16)


def owner_of(library, token):
    """The owner of a token, as a request with it has it."""
    with library.app.test_request_context("/api/v1/photos", headers={"X-Auth-Token": token}):
        return principal().owner_uid


@pytest.mark.parametrize(("threads", "plain", "write", "reserved"), [(1, 1, 1, 1), (4, 2, 1, 1), (16, 8, 6, 2)])
def test_an_account_has_half_of_the_threads_and_three_quarters_of_the_writing_ones(
    service, threads, plain, write, reserved
):
    gate = AdmissionGate(service.settings, service.clock)
    gate.let_serve(threads)
    places = gate.places
    assert sum(places[Cost.PLAIN].take("ann") is not None for _ in range(threads)) == plain
    assert sum(places[Cost.WRITE].take("ann") is not None for _ in range(threads)) == write
    half = max(1, threads // 2)
    assert sum(places[Cost.WRITE].take(f"user {number}") is not None for number in range(threads)) == half - write
    assert sum(places[Cost.WRITE].take("") is not None for _ in range(threads)) == reserved


def test_an_account_with_too_many_requests_is_refused_and_others_are_answered(library, service):
    token, other = library.token("photos"), library.token("photos", role="admin")
    owner = owner_of(library, token)
    held = [service.gate.enter(owner) for _ in range(8)]
    library.clock.step = 0.1  # each look at the clock
    with pytest.raises(NotAdmittedError):
        service.gate.enter(owner)
    answer = library.get(token=token)
    message = check_error(answer, 429)["error"]
    assert message == "You have too many such requests in progress: wait until one is complete."
    assert answer.headers["Retry-After"] == "1"
    assert library.get(token=other).status_code == 200
    held.pop()()
    assert library.get(token=token).status_code == 200
    for free in held:
        free()


def test_each_request_frees_its_place_at_its_end_after_errors_too(library, service):
    service.gate.let_serve(2)
    token = library.token("photos")
    for path, query, status in (("", "", 200), ("", "count=x", 400), ("/none", "", 404)):
        for _ in range(2):
            assert library.get(query, path=f"/api/v1/photos{path}", token=token).status_code == status, (path, query)


def test_a_costly_search_needs_a_place_and_a_cheap_search_needs_none(library, service, monkeypatch):
    monkeypatch.setattr(limits, "COSTLY", 0)
    monkeypatch.setattr(limits, "_INSTRUCTIONS", 1)
    token = library.token("photos")
    places = service.gate.places[Cost.COSTLY]
    held = [places.take(owner_of(library, token)) for _ in range(4)]
    assert None not in held
    assert places.take(owner_of(library, token)) is None
    answer = library.get({"q": "-iso:1-"}, token=token)
    assert check_error(answer, 503)["error"].startswith("Too many costly searches are running")
    assert answer.headers["Retry-After"] == "2"
    monkeypatch.setattr(limits, "COSTLY", 60)
    assert library.get({"q": "-iso:1-"}, token=token).status_code == 200
    monkeypatch.setattr(limits, "COSTLY", 0)
    for free in held:
        free()
    assert library.get({"q": "-iso:1-"}, token=token).status_code == 200
    assert not places.are_all_taken


def test_a_write_without_a_place_is_refused_and_an_optional_one_left_out(library, service):
    service.gate.let_serve(2)
    with library.app.app_context():
        free = service.writers.take("")
        library.clock.step = 0.1  # each look at the clock
        with pytest.raises(PhotosvcError) as error, service.writing():
            pytest.fail("it must not begin")
        assert (error.value.status, error.value.retry_after) == (503, 2)
        assert not service.write_if_free(lambda _session: pytest.fail("it must be left out"))
        free()
        with service.writing():
            assert service.writers.take("") is None
        assert service.writers.take("") is not None
