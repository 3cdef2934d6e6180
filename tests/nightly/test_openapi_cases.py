"""Requests that Schemathesis makes from the OpenAPI document, each sent with every kind of credential.

No answer is a server error, and each has a status and a content type that the document names. Runs of the slow tests
try some cases of each operation, `make test-api` a hundred, and each is sent seven times.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from sqlalchemy import select

from photosvc.core.ids import new_client_secret
from photosvc.models import Album, Credential, File, Keyword, Marker, Photo, User
from photosvc.models.engine import begin_write
from tests.helpers.api_client import API, HASH, ApiClient, open_api
from tests.helpers.examples import examples
from tests.helpers.factories.accounts import add_client, add_user
from tests.helpers.pictures import exif, jpeg, xmp

if TYPE_CHECKING:  # its import takes a second, which every process of a test run would pay
    from schemathesis import APIOperation, Case

_CASES, _CASES_OF_SLOW_TESTS = 100, 4
_CREDENTIALS = {"authorization", "x-auth-token", "x-session-id"}
_PHOTOS = 4
#: Path parameters that are the same in every library.
_FIXED = {
    "folder": ("a", "a/b"),
    "month": ("2020-01", "0000-00"),
    "number": ("1", "2"),
    "size": ("fit_720", "tile_224"),
    "video_format": ("avc",),
    "session_id": ("me",),
}


class Callers:
    """Headers with a working credential of each kind, and none; requests may end them or their accounts."""

    def __init__(self, api: ApiClient) -> None:
        self._api, self._numbers = api, count()
        self._make: Mapping[str, Callable[[], Mapping[str, str]]] = {
            "login of an administrator": lambda: _token(api.session_of(self._account("admin"))),
            "login of a viewer": lambda: _token(api.session_of(self._account("viewer"))),
            "app password": lambda: _token(api.app_password(self._account("user"))),
            "access token": lambda: _token(api.access_token()),
            "client token": lambda: _token(api.client_token(role="admin")),
            "client": self._client,
        }
        self._headers = {kind: make() for kind, make in self._make.items()}

    def __iter__(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        yield from (*self._headers.items(), ("nothing", {}))

    def renew(self, kind: str) -> None:
        if kind in self._make:
            self._headers[kind] = self._make[kind]()

    def _account(self, role: str) -> str:
        name = f"{role}{next(self._numbers)}"
        with self._api.library.session() as session:
            begin_write(session)
            add_user(session, name, role, password_hash=HASH)
        return name

    def _client(self) -> Mapping[str, str]:
        secret = new_client_secret()
        with self._api.library.session() as session:
            client = add_client(session, role="admin", secret=secret)
            session.commit()
            return {"Authorization": f"Basic {b64encode(f'{client.uid}:{secret}'.encode()).decode()}"}


def _token(secret: str) -> Mapping[str, str]:
    return {"X-Auth-Token": secret}


def piece_of_an_upload(context, value):
    return value if isinstance(value, bytes) else str(value).encode()


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("api")) as api:
        yield api


def fill(api: ApiClient) -> None:
    """Photos, labels, people and an album, where requests have left none."""
    with api.library.session() as session:
        there = session.scalars(select(Photo.id)).all()
    if len(there) < _PHOTOS // 2:
        words = xmp("<dc:subject><rdf:Bag><rdf:li>lake</rdf:li></rdf:Bag></dc:subject>")
        for number in range(_PHOTOS):
            taken = exif({}, {0x9003: f"202{number}:01:02 03:04:05"})
            name = f"{'ab'[number % 2]}/{len(there)}{number}.jpg"
            api.library.put(name, jpeg(64 + number, 48, exif=taken, xmp=words))
        api.library.index()
    if not api.call("GET", "/albums", api.access_token()).json:
        assert api.call("POST", "/albums", api.access_token(), json={"Title": "Lake"}).status_code == 200


def known_values(api: ApiClient, preview: str) -> Mapping[str, Sequence[str]]:
    """Path parameter -> values of what is there."""
    columns = {
        "photo_uid": Photo.uid,
        "file_uid": File.uid,
        "content_hash": File.hash,
        "album_uid": Album.uid,
        "label_id": Keyword.id,
        "marker_uid": Marker.uid,
        "user_uid": User.uid,
        "credential": Credential.uid,
    }
    with api.library.session() as session:
        stored = {
            name: [str(one) for one in session.scalars(select(column).limit(5))] for name, column in columns.items()
        }
        labels = [keyword.uid for keyword in session.scalars(select(Keyword).limit(5))]
    found = {**_FIXED, **stored, "label_uid": labels, "uid": [*labels, *stored["album_uid"]], "token": [preview]}
    return {name: values for name, values in found.items() if values}


def test_every_operation_answers_as_the_document_says_to_every_kind_of_credential(api):
    import schemathesis

    schemathesis.serializer("application/offset+octet-stream")(piece_of_an_upload)
    callers, failures = Callers(api), []
    schema = schemathesis.openapi.from_wsgi(f"{API}/openapi.json", api.library.app)
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 100
    for operation in operations:
        fill(api)
        try:
            send_cases(api, operation, callers)
        except Exception as error:  # noqa: BLE001 - of any kind: the other operations are tried too
            failures.append(f"{operation.label}: {error} {getattr(error, 'exceptions', '')}".rstrip())
    assert not failures, "\n".join(failures)


def send_cases(api: ApiClient, operation: "APIOperation", callers: Callers) -> None:
    from schemathesis import GenerationMode

    preview = api.call("GET", "/photos", api.access_token()).headers["X-Preview-Token"]
    known = known_values(api, preview)

    @examples(
        _CASES,
        _CASES_OF_SLOW_TESTS,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=[*HealthCheck],
    )
    @given(case=st.one_of(operation.as_strategy(generation_mode=mode) for mode in GenerationMode), data=st.data())
    def send(case: "Case", data: st.DataObject) -> None:
        for name in case.path_parameters or {}:
            if name in known and data.draw(st.booleans()):
                case.path_parameters[name] = data.draw(st.sampled_from(known[name]))
        send_to_all(api, case, callers)

    send()


def send_to_all(api: ApiClient, case: "Case", callers: Callers) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

    checks = [not_a_server_error, status_code_conformance, content_type_conformance]
    api.clock.move(minutes=1)  # the limit of failures is no part of this test
    client = api.library.app.test_client()
    for kind, credential in callers:
        request = case.as_transport_kwargs()  # files that it sends are closed with it
        without = {name: value for name, value in request.pop("headers").items() if name.lower() not in _CREDENTIALS}
        answer = client.open(**request, headers={**without, **credential}, buffered=True)
        case.validate_response(answer, checks=checks)
        if answer.status_code == 401:
            callers.renew(kind)
