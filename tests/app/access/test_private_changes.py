"""Changes of private photos change no answer to principals who do not see private photos."""

import pytest

from photosvc.core.ids import FILE, MARKER, PHOTO
from tests.app.access.sharing import FULL, filled, name_of, picture, routes, send, values_of
from tests.helpers.api_client import HASH, PASSWORD
from tests.helpers.factories.accounts import add_user

SEARCHES = ("?q=Insidetitle", "?q=private:true", "?q=secretly", "?count=2", "?q=maplecan")
#: Further query strings of some routes.
QUERIES = {
    "/suggest": (*SEARCHES, "?q=ma", "?q=o", "?q=keywords:", "?q=camera:", "?q=camera:o", "?q=person:"),
    "/photos": (*SEARCHES, "?merged=true", "?order=name&count=3", "?total=true", "?order=random&seed=4"),
    "/photos/facets": ("?by=year,month,country,city,camera,lens,type,color,rating,album,person",),
    "/photos/sequence": (*SEARCHES, "?total=true", "?order=title&total=true"),
    "/photos/clusters": ("?bbox=-180,-90,180,90",),
    "/geo": SEARCHES,
    "/labels": ("?order=count", "?favorite=true"),
    "/subjects": ("?order=count", "?hidden=true", "?favorite=true"),
    "/albums": ("?type=album", "?type=month", "?type=folder", "?type=state", "?order=count"),
}
#: Routes whose answers tell the time or the requests so far.
MOVING = {"GET /metrics"}


@pytest.fixture(scope="module")
def others(shared):
    """Tokens of principals of every kind that sees no private photos."""
    with shared.api.library.session() as session:
        add_user(session, "gina", "guest", password_hash=HASH)
    path = f"/albums/{shared.album}/accounts"
    assert shared.api.call("POST", path, shared.token, json={"Account": "gina", "Role": "viewer"}).status_code == 200
    return {
        "viewer": shared.api.app_password("vera"),
        "client": shared.api.client_token(),
        "device": shared.api.access_token(),
        "visitor": shared.visit(**FULL),
        "guest": shared.api.session_of("gina", PASSWORD),
    }


def answers_to(shared, token):
    """The status, the headers and the body of every GET route of the API, and whether its tag is that of a repeat."""
    found = {}
    for method, rule, _ in routes(shared.api.library.app):
        name = name_of(method, rule)
        if method != "GET" or not rule.rule.startswith("/api/v1") or name in MOVING:
            continue
        path = filled(rule, values_of(shared, shared.album, shared.photos["insidefile0"], "unknown"))
        for query in ("", *QUERIES.get(name.removeprefix("GET "), ())):
            answer = send(shared, "GET", path, token, query=query)
            headers = {name: value for name, value in answer.headers if name not in {"X-Request-ID", "Date"}}
            found[path + query] = answer.status_code, headers, answer.get_data()
    return found


def test_changes_of_private_photos_change_no_answer_to_principals_without_sight_of_them(shared, others):
    api, token = shared.api, shared.token
    for number in range(6):
        api.library.put(f"own/own{number}.jpg", picture(500 + number, number + 1, f"Ocam{number}", f"Olaf{number}"))
    api.library.index()
    added = [photo["UID"] for photo in api.call("GET", "/photos?q=filename:own/*&primary=true", token).json]
    assert len(added) == 6
    assert api.call("POST", "/batch/photos/private", token, json={"photos": added}).status_code == 200
    before = {name: answers_to(shared, token) for name, token in others.items()}
    assert all("ETag" in before["viewer"][f"/api/v1{path}"][1] for path in ("/photos", "/labels", "/suggest?q=ma"))
    for number, uid in enumerate([shared.photos["insidefile2"]["UID"], *added]):
        texts = {"Title": f"Secretly {number}", "Details": {"Keywords": f"maplecamp, oak{number}"}, "Favorite": True}
        assert api.call("PUT", f"/photos/{uid}", token, json=texts).status_code == 200
    marker = api.call("GET", f"/photos/{added[0]}", token).json["Files"][0]["Markers"][0]
    assert api.call("PUT", f"/markers/{marker['UID']}", token, json={"Name": "Omar"}).status_code == 200
    label = next(one for one in api.call("GET", "/labels", token).json if one["Name"] == "oak1")
    assert api.call("POST", f"/labels/{label['UID']}/like", token).status_code == 200
    assert api.call("POST", f"/subjects/{marker['SubjUID']}/like", token).status_code in {200, 404}
    assert api.call("POST", "/batch/photos/archive", token, json={"photos": added[:2]}).status_code == 200
    for name, answers in before.items():
        after = answers_to(shared, others[name])
        differing = [path for path, answer in answers.items() if after[path] != answer]
        assert differing == [], name


def test_private_photos_and_unknown_photos_have_equal_answers(shared, others):
    photo = shared.photos["insidefile2"]
    values = values_of(shared, shared.album, photo, "unknown")
    unknown = {"photo_uid": PHOTO, "file_uid": FILE, "marker_uid": MARKER}
    no_values = values | {name: f"{prefix}{'0' * 15}" for name, prefix in unknown.items()} | {"content_hash": "0" * 40}
    tried = 0
    for method, rule, _ in routes(shared.api.library.app):
        named = rule.arguments & {*unknown, "content_hash"}
        if not rule.rule.startswith("/api/v1") or not (named or rule.rule.endswith("/markers")):
            continue
        for who in ("viewer", "client"):
            outcomes = []
            for given in (values, no_values):
                area = {"FileUID": given["file_uid"], "X": 0.1, "Y": 0.1, "W": 0.1, "H": 0.1, "Name": "Anna"}
                body = (
                    None
                    if method in {"GET", "DELETE"}
                    else area
                    if rule.rule.endswith("/markers")
                    else {"Name": "Anna"}
                )
                answer = send(shared, method, filled(rule, given), others[who], body=body)
                text = answer.get_data(as_text=True)
                for name in (*unknown, "content_hash"):
                    text = text.replace(given[name], name)
                outcomes.append((answer.status_code, text))
            assert outcomes[0] == outcomes[1], (who, name_of(method, rule))
            tried += 1
    assert tried > 50


def test_names_of_private_photos_are_no_favorites_when_others_first_use_them(shared, others):
    api, private, seen = shared.api, shared.photos["insidefile2"]["UID"], shared.photos["outsidefile0"]
    texts = {"Details": {"Keywords": "hushed"}}
    assert api.call("PUT", f"/photos/{private}", shared.token, json=texts).status_code == 200

    def labels(token):
        return {one["Name"]: (one["UID"], one["Favorite"]) for one in api.call("GET", "/labels", token).json}

    uid, _ = labels(shared.token)["hushed"]
    assert api.call("POST", f"/labels/{uid}/like", shared.token).status_code == 200
    named = {"Name": "hushed"}
    assert api.call("POST", f"/photos/{seen['UID']}/label", others["client"], json=named).status_code == 200
    assert labels(others["client"])["hushed"] == (uid, False)
    assert labels(shared.token)["hushed"] == (uid, True)
    assert api.call("POST", f"/labels/{uid}/like", others["client"]).status_code == 200
    assert labels(others["viewer"])["hushed"] == (uid, True)
