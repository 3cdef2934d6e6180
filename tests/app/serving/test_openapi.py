"""The OpenAPI document: valid, complete, and true to the answers of the service."""

import re
from itertools import combinations

import pytest
from jsonschema import Draft202012Validator

from photosvc import extension
from photosvc.dav.blueprint import BLUEPRINT as WEBDAV
from photosvc.pages import BLUEPRINT as PAGES
from photosvc.query.filters import FILTERS
from photosvc.web.contract import contract_of, public
from tests.helpers.api_client import PASSWORD, open_api
from tests.helpers.cheap import REAL_MOUNT
from tests.helpers.factories.photos import add_photos

#: Views that the document leaves out: placeholders; also those of WebDAV, which RFC 4918 describes.
LEFT_OUT = {"not_implemented"}
#: Begins an argument of a route, with its converter.
ARGUMENT = re.compile(r"<(?:\w+:)?")


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("api")) as api:
        with api.library.session() as session:
            add_photos(session, 30, api.clock())
        yield api


@pytest.fixture(scope="module")
def document(api):
    answer = api.call("GET", "/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "public, max-age=300"
    return answer.json


def test_it_has_every_route_of_the_api_and_no_other(api, document):
    app = api.library.app
    routes = {
        f"{method} {ARGUMENT.sub('{', rule.rule.removeprefix('/api/v1')).replace('>', '}')}"
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/v1/") and app.view_functions[rule.endpoint].__name__ not in LEFT_OUT
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    described = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert described == routes


def test_each_tag_is_used_and_has_a_name_of_words_and_a_description(document):
    used = {tag for methods in document["paths"].values() for one in methods.values() for tag in one["tags"]}
    assert sorted(used) == [tag["name"] for tag in sorted(document["tags"], key=lambda tag: tag["name"])]
    assert {"thumbnails", "downloads", "people", "service"} <= used
    assert all(len(tag["name"]) > 4 and tag["description"].endswith(".") for tag in document["tags"])
    tags = {"/t/{content_hash}/{token}/{size}": "thumbnails", "/dl/{content_hash}": "downloads", "/users": "accounts"}
    assert {path: document["paths"][path]["get"]["tags"] for path in tags} == {
        path: [tag] for path, tag in tags.items()
    }
    assert document["paths"]["/users/{user_uid}/upload/{token}"]["post"]["tags"] == ["uploads"]


def parameters(document, path):
    return {parameter["name"]: parameter for parameter in document["paths"][path]["get"]["parameters"]}


def test_changes_of_names_may_be_answered_with_a_job(document):
    for method, path in (
        ("put", "/labels/{label_uid}"), ("put", "/subjects/{subject_uid}"), ("post", "/batch/labels/delete"),
    ):  # fmt: skip
        answers = document["paths"][path][method]["responses"]
        assert {"200", "202"} < set(answers)
        assert set(answers["202"]["headers"]) == {"Location"}
        assert "job" in answers["202"]["content"]["application/json"]["schema"]["required"]


def test_every_view_has_a_contract(api):
    app = api.library.app
    for endpoint, view in app.view_functions.items():
        if endpoint.startswith(PAGES):
            continue
        contract = contract_of(view)
        assert contract.meaning or not contract.documented, endpoint
        left_out = view.__name__ in LEFT_OUT or endpoint.startswith(WEBDAV)
        assert contract.documented == (not left_out), endpoint


def test_a_view_without_a_contract_breaks_the_document(tmp_path, monkeypatch):
    monkeypatch.setattr(extension, "mount", REAL_MOUNT)  # routes of its own
    with open_api(tmp_path) as api:
        view = public(lambda: "hello")
        api.library.app.add_url_rule("/api/v1/hello", "hello", view)
        with pytest.raises(LookupError, match="the view <lambda> has no contract"):
            contract_of(view)
        assert api.call("GET", "/openapi.json").status_code == 500


def test_a_search_takes_every_filter_of_the_table(document):
    others = {"q", "filter", "s", "count", "offset", "cursor", "order", "reverse", "seed", "merged", "total"}
    assert set(parameters(document, "/photos")) == {*others, *FILTERS}
    which = {"q", "filter", "s", *FILTERS}
    assert set(parameters(document, "/photos/facets")) == {"by", *which}
    assert set(parameters(document, "/photos/timeline")) == {"order", "version", *which}
    of_month = {"order", "version", "from", "n", *which}
    assert set(parameters(document, "/photos/timeline/months/{month}/photos")) == of_month
    of_sequence = {"order", "seed", "version", "from", "n", "cursor", "locate", "total", *which}
    assert set(parameters(document, "/photos/sequence")) == of_sequence
    assert set(parameters(document, "/photos/clusters")) == {"bbox", "zoom", "version", *which}


def test_every_example_of_a_filter_can_be_asked_for(api, document):
    token = api.access_token()
    needs = {"lat": {"lng": 1}, "lng": {"lat": 1}, "dist": {"lat": 1, "lng": 1}}
    for name in FILTERS:
        parameter = parameters(document, "/photos")[name]
        value = "true" if parameter["schema"]["type"] == "boolean" else parameter["example"]
        asked = {name: value, **needs.get(name, {})}
        answer = api.call("GET", "/photos", token, query_string=asked)
        assert answer.status_code in ({404} if name in {"near", "similar"} else {200}), (asked, answer.text)


def test_a_change_requires_no_value_also_within_others(document):
    schemas = document["components"]["schemas"]
    for name in ("PhotoEdit", "DetailsEdit", "AlbumEdit"):
        assert "required" not in schemas[name], name
    assert "Keywords" in schemas["Details"]["required"]


def test_every_value_of_a_body_has_a_type(document):
    without = [
        (name, field)
        for name, schema in document["components"]["schemas"].items()
        for field, value in schema["properties"].items()
        if not {"type", "$ref", "anyOf", "allOf", "const", "enum"} & set(value)
    ]
    assert without == []


def test_the_rights_for_each_operation_are_described_as_in_the_policy(document):
    def ways(path, method="get"):
        return [next(iter(way)) for way in document["paths"][path][method]["security"] if way]

    assert ways("/photos") == ["bearer", "authToken", "sessionID", "oauth2"]
    assert ways("/users") == ["bearer", "authToken", "sessionID"]
    assert ways("/oauth/token", "post") == ["client"]
    assert ways("/status") == []
    who = "`photos read`; for admin, client, guest, user, viewer, visitor."
    assert who in document["paths"]["/photos"]["get"]["description"]


def check(document, path, method, answer):
    """Make sure that an answer is one that the document tells of."""
    promised = document["paths"][path][method]["responses"][str(answer.status_code)]
    schema = {"components": document["components"], **promised["content"]["application/json"]["schema"]}
    assert list(Draft202012Validator(schema).iter_errors(answer.json)) == []
    promised_headers = set(promised.get("headers", {}))
    sometimes = {"X-Total-Count", "X-Cursor", "Link", "X-Unknown-Parameters", "X-Search-Hint"}
    assert promised_headers - sometimes <= {name for name, _ in answer.headers}


def test_every_operation_with_a_token_says_that_failures_are_limited(document):
    operations = [one for methods in document["paths"].values() for one in methods.values() if one["security"]]
    assert len(operations) > 80
    assert [one["operationId"] for one in operations if "429" not in one["responses"]] == []


def test_every_operation_with_a_body_says_that_its_length_is_limited(api, document):
    operations = [one for methods in document["paths"].values() for one in methods.values() if "requestBody" in one]
    assert len(operations) > 40
    assert [one["operationId"] for one in operations if "413" not in one["responses"]] == []
    answer = api.call("POST", "/albums", api.session_of("ann"), json={"Title": "x" * 70_000})
    check(document, "/albums", "post", answer)
    assert answer.status_code == 413


def test_every_operation_with_parameters_says_that_addresses_are_limited(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            asked = any(parameter["in"] == "query" for parameter in operation["parameters"])
            assert ("414" in operation["responses"]) is asked, (method, path)


def test_no_address_matches_two_paths_of_which_neither_is_more_concrete(document):
    for one, other in combinations(document["paths"], 2):
        parts = list(zip(one.split("/"), other.split("/"), strict=False))
        both = [(part, opposite) for part, opposite in parts if part != opposite]
        if one.count("/") == other.count("/") and all("{" in part + opposite for part, opposite in both):
            concrete = ["{" in part for part, opposite in both if "{" not in part or "{" not in opposite]
            assert len(set(concrete)) == 1, (one, other)


def test_pictures_and_archives_are_bytes_to_generators_that_know_no_other_types(document):
    binary = {"schema": {"type": "string", "format": "binary"}}
    for path, kind in (
        ("/t/{content_hash}/{token}/{size}", "image/*"), ("/videos/{content_hash}/{token}/{video_format}", "video/mp4"),
        ("/dl/{content_hash}", "*/*"), ("/zip/{name}", "application/zip"),
    ):  # fmt: skip
        content = document["paths"][path]["get"]["responses"]["200"]["content"]
        assert content == {kind: binary, "application/octet-stream": binary}, path


def test_no_default_is_null(document):
    schemas = document["components"]["schemas"].values()
    fields = [field for schema in schemas for field in schema.get("properties", {}).values()]
    assert len(fields) > 300
    assert [field for field in fields if field.get("default", "") is None] == []


def test_no_type_is_named_twice(document):
    def types(part):
        if isinstance(part, dict):
            if isinstance(part.get("type"), list):
                yield part["type"]
            part = list(part.values())
        for inner in part if isinstance(part, list) else ():
            yield from types(inner)

    found = list(types(document))
    assert found
    assert all(len(set(names)) == len(names) for names in found)


def test_pages_take_every_count_that_it_allows(api, document):
    token, tried = api.session_of("ann"), 0
    for path, methods in document["paths"].items():
        for parameter in methods.get("get", {}).get("parameters", ()):
            if parameter["name"] in {"count", "offset"} and "{" not in path and "import" not in path:
                limits = parameter["schema"]
                most = limits.get("maximum", 10**6)
                for number, status in ((limits["minimum"], 200), (most, 200), (limits["minimum"] - 1, 400)):
                    answer = api.call("GET", f"{path}?{parameter['name']}={number}", token)
                    assert answer.status_code == status, (path, parameter["name"], number, answer.text)
                    tried += 1
    assert tried > 40


def test_searches_answer_as_it_says(api, document):
    token = api.access_token()
    for asked in ({}, {"merged": "true"}, {"count": 0}, {"s": "ass5gfen1bgxz7s9"}):
        check(document, "/photos", "get", api.call("GET", "/photos", token, query_string=asked))
    for by in ("year,camera,city", "", "nothing"):
        check(document, "/photos/facets", "get", api.call("GET", "/photos/facets", token, query_string={"by": by}))
    check(document, "/photos", "get", api.call("GET", "/photos"))
    check(document, "/photos", "get", api.call("GET", "/photos", api.access_token("metrics")))


def test_records_of_photos_and_files_answer_as_it_says(api, document):
    token = api.access_token()
    for result in api.call("GET", "/photos", token).json:
        for path, name in (("/photos/{photo_uid}", result["UID"]), ("/files/{content_hash}", result["Hash"])):
            check(document, path, "get", api.call("GET", f"{path.partition('{')[0]}{name}", token))
            check(document, path, "get", api.call("GET", f"{path.partition('{')[0]}x", token))


def test_viewers_and_maps_answer_as_it_says(api, document):
    token = api.access_token()
    for path in ("/photos/view", "/geo"):
        for asked in ({}, {"count": 3, "merged": "true"}, {"q": "name:nothing"}, {"order": "best"}):
            check(document, path, "get", api.call("GET", path, token, query_string=asked))
        assert set(parameters(document, path)) == set(parameters(document, "/photos"))


def test_the_configuration_answers_as_it_says(api, document):
    check(document, "/config", "get", api.call("GET", "/config", api.access_token()))


def test_the_timeline_and_the_map_answer_as_it_says(api, document):
    token = api.access_token()
    month = "/photos/timeline/months/{month}"
    for path, called in ((month, "2023-05"), (month, "2023"), (f"{month}/photos", "2023-05"), (f"{month}/photos", "x")):
        check(document, path, "get", api.call("GET", path.replace("{month}", called), token))
    for path in ("/photos/timeline", "/photos/clusters"):
        for asked in ({}, {"version": "old"}, {"order": "size", "zoom": -1}, {"s": "ass5gfen1bgxz7s9"}):
            check(document, path, "get", api.call("GET", path, token, query_string=asked))


def test_the_suggestions_answer_as_it_says(api, document):
    token = api.access_token()
    for asked in ({}, {"q": "c"}, {"q": "camera:", "at": 3}, {"q": "is:"}, {"at": "x"}):
        check(document, "/suggest", "get", api.call("GET", "/suggest", token, query_string=asked))


def test_accounts_and_sessions_answer_as_it_says(api, document):
    ann = api.session_of("ann")
    uid = api.uids["ann"]
    new = {"name": "phone", "scope": "photos", "password": PASSWORD}
    calls = [
        ("post", "/session", None, {"username": "alice", "password": PASSWORD}),
        ("post", "/session", None, {"username": "alice", "password": "wrong"}),
        ("get", "/session", None, None),
        ("get", "/users", None, None),
        ("post", "/users", None, {"Name": "new", "Password": "a long password"}),
        ("post", "/users", None, {"Name": "new", "Password": "a long password"}),
        ("get", "/users/{user_uid}", uid, None),
        ("put", "/users/{user_uid}", uid, {"DisplayName": "Ann"}),
        ("post", "/users/{user_uid}/app-passwords", uid, new),
        ("get", "/users/{user_uid}/app-passwords", uid, None),
        ("post", "/users/{user_uid}/passcode", uid, {"password": PASSWORD}),
        ("delete", "/session", None, None),
        ("get", "/status", None, None),
    ]
    statuses = []
    for method, path, user_uid, body in calls:
        answer = api.call(method.upper(), path.replace("{user_uid}", user_uid or ""), ann, json=body)
        check(document, path, method, answer)
        statuses.append(answer.status_code)
    assert statuses == [200, 401, 200, 200, 201, 409, 200, 200, 201, 200, 200, 200, 200]


def test_the_service_reads_exactly_the_bodies_that_it_allows(document):
    schemas = document["components"]["schemas"]
    assert schemas["NewUser"]["required"] == ["Name", "Password"]
    assert schemas["Login"]["properties"]["code"]["type"] == ["string", "null"]
    assert set(schemas["UserChanges"]["properties"]) == {"Role", "DisplayName", "Email", "Disabled"}


def test_optional_fields_of_a_record_are_not_called_required(document):
    result = document["components"]["schemas"]["PhotoResult"]
    assert set(result["properties"]) - set(result["required"]) == {
        "DocumentID", "Rating", "Faces", "Altitude", "Duration", "CameraType", "LensMake",
    }  # fmt: skip
    assert result["properties"]["Files"]["items"] == {"$ref": "#/components/schemas/File"}
    assert result["properties"]["TakenAt"] == {"type": "string", "format": "date-time", "description": "In UTC."}
