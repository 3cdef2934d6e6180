"""A library with albums to share, and a request to each route of the app by somebody with whom one is shared."""

import re
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy import update

from photosvc.models import Photo
from photosvc.models.engine import begin_write
from photosvc.web.contract import ACTION, PUBLIC, VISITORS
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg, xmp

#: Words of the photos inside the link that only the right to metadata shows.
TOLD = ("Secretown", "Maplecam", "Adaperson", "insidefile", "insidefolder", "Insidetitle", "keywordfern")
#: Words of all that lies outside.
OUTSIDE = ("outsidefile", "outsidefolder", "Outsidetitle", "Othercam", "Bobperson", "Otheralbum", "Hiddenquery")


def named_area(name):
    return xmp(
        '<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li rdf:parseType="Resource">'
        f"<mwg-rs:Name>{name}</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type>"
        '<mwg-rs:Area stArea:x="0.5" stArea:y="0.5" stArea:w="0.1" stArea:h="0.2" stArea:unit="normalized"/></rdf:li>'
        "</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>"
    )


def picture(side, day, camera, person):
    gps = {1: "N", 2: [(52, 1), (31, 1), (0, 1)], 3: "E", 4: [(13, 1), (24, 1), (0, 1)]}
    tags = exif({0x010F: camera, 0x0110: camera}, {0x9003: f"2021:07:{day:02} 10:00:00"}, gps)
    return jpeg(side, 200, exif=tags, xmp=named_area(person))


@dataclass
class Shared:
    """A library of which one album is shared by a plain and a full link."""

    api: object
    token: str
    album: str
    smart: str
    other: str
    photos: dict
    """The records of all photos by the names of their files."""
    inside: list
    """Names of the photos that the link shows."""

    def link(self, album=None, **values):
        answer = self.api.call("POST", f"/albums/{album or self.album}/links", self.token, json=values)
        assert answer.status_code == 200, answer.text
        return answer.json

    def visit(self, album=None, **values):
        """The session of a visitor of a new link."""
        return self.open(self.link(album, **values)["Token"]).json["access_token"]

    def open(self, token, **values):
        return self.api.call("POST", "/session", json={"token": token, **values})

    @property
    def outside(self):
        return [name for name in self.photos if name not in self.inside]

    def identifiers(self, names):
        """The UIDs and hashes of photos."""
        found = [self.photos[name] for name in names]
        files = [file for photo in found for file in photo["Files"]]
        return {*(photo["UID"] for photo in found), *(file[key] for file in files for key in ("UID", "Hash"))}


FULL = {"ShowMetadata": True, "CanDownload": True}


@contextmanager
def open_shared(folder):
    """A library of which albums can be shared; two of the five photos of one album may be shown to visitors."""
    with open_api(folder) as api:
        for number in range(5):
            content = picture(300 + number, number + 1, "Maplecam", "Adaperson")
            api.library.put(f"insidefolder/insidefile{number}.jpg", content)
        for number in range(4):
            content = picture(400 + number, number + 11, "Othercam", "Bobperson")
            api.library.put(f"outsidefolder/outsidefile{number}.jpg", content)
        api.library.index()
        token = api.app_password("ann")
        photos = {photo["Name"]: photo for photo in api.call("GET", "/photos?count=99&merged=true", token).json}
        for name, photo in photos.items():
            inside = name.startswith("inside")
            texts = {"Title": "Insidetitle" if inside else "Outsidetitle", "Details": {"Keywords": "keywordfern"}}
            assert api.call("PUT", f"/photos/{photo['UID']}", token, json=texts).status_code == 200
        album = add_album(api, token, "Shared pictures", [photos[name] for name in photos if name.startswith("inside")])
        # These belong to the album and are not for visitors.
        api.call("PUT", f"/photos/{photos['insidefile2']['UID']}", token, json={"Private": True})
        api.call("POST", "/batch/photos/archive", token, json={"photos": [photos["insidefile3"]["UID"]]})
        with api.library.session() as session:
            begin_write(session)
            session.execute(update(Photo).where(Photo.uid == photos["insidefile4"]["UID"]).values(quality=-1))
        api.svc("index", "--rebuild-search")
        other = add_album(api, token, "Otheralbum", [photos["outsidefile0"], photos["insidefile0"]])
        smart = {"Title": "Smart pictures", "Filter": "name:insidefile* | Hiddenquery | archived:true"}
        smart = api.call("POST", "/albums", token, json=smart).json["UID"]
        photos = {**photos, **{p["Name"]: p for p in api.call("GET", "/photos?count=99&merged=true", token).json}}
        yield Shared(api, token, album, smart, other, photos, ["insidefile0", "insidefile1"])


def add_album(api, token, title, photos):
    album = api.call("POST", "/albums", token, json={"Title": title}).json["UID"]
    chosen = {"photos": [photo["UID"] for photo in photos]}
    assert api.call("POST", f"/albums/{album}/photos", token, json=chosen).status_code == 200
    return album


def routes(app):
    """Method, rule and view of every route that is not a static file."""
    for rule in app.url_map.iter_rules():
        for method in sorted(rule.methods - {"HEAD", "OPTIONS"}):
            yield method, rule, app.view_functions[rule.endpoint]


def name_of(method, rule):
    return f"{method} {rule.rule.removeprefix('/api/v1')}"


def filled(rule, values):
    """The path of a rule with these values for its arguments, and a 1 for each other argument."""
    return re.sub(r"<(?:[^<>:]+:)?(\w+)>", lambda found: quote(str(values.get(found[1], 1)), safe="/"), rule.rule)


def values_of(shared, album, photo, token):
    """A value for each argument of a route, of one photo and album."""
    file = photo["Files"][0]
    return {
        "content_hash": file["Hash"],
        "photo_uid": photo["UID"],
        "file_uid": file["UID"],
        "uid": album,
        "album_uid": album,
        "user_uid": shared.api.uids["ann"],
        "token": token,
        "size": "tile_224",
        "video_format": "avc",
        "month": "2021-07",
        "first": "2021-07",
        "last": "2021-08",
        "folder": "outsidefolder",
        "marker_uid": file["Markers"][0]["UID"],
    }


def send(shared, method, path, visitor, *, body=None, query=""):
    client = shared.api.library.app.test_client()
    headers = {"Authorization": f"Bearer {visitor}"}
    return client.open(
        path + query, method=method, headers=headers, json=body, environ_base={"REMOTE_ADDR": "::1"}, buffered=True
    )


def refuses_to_tell(answer, words, sent):
    """Make sure that an answer has none of the words, in its body or headers, that were not sent with the request."""
    text = answer.get_data() + str(answer.headers).encode()
    told = [word for word in words if word.encode() in text and word not in sent]
    assert told == [], (answer.request.path, answer.status_code, told)


def ways(shared, photo, headers, album=None):
    """The paths by which a photo is opened, with the tokens in the headers of an answer."""
    preview, download, album = headers["X-Preview-Token"], headers["X-Download-Token"], album or shared.album
    of_photo = [
        f"/t/{photo['Hash']}/{preview}/fit_720",
        f"/t/{photo['Hash']}/{download}/tile_224",
        f"/dl/{photo['Hash']}",
        f"/dl/{photo['Hash']}?t={download}",
        f"/photos/{photo['UID']}/dl",
    ]
    of_album = [
        f"/albums/{album}",
        f"/albums/{album}/dl",
        f"/albums/{album}/dl?t={download}",
        f"/photos?s={album}",
        f"/photos/view?s={album}",
    ]
    return of_photo, of_album


def check_left_out(shared, token, album):
    """Make sure that private, archived, hidden and other photos of an album are opened by no path."""
    found = send(shared, "GET", "/api/v1/photos?count=99", token)
    assert sorted(photo["Name"] for photo in found.json) == shared.inside, album
    assert send(shared, "GET", "/api/v1/photos?total=true&count=1", token).headers["X-Total-Count"] == "2"
    for name in ("insidefile2", "insidefile3", "insidefile4", "outsidefile0"):
        photo = shared.photos[name]
        of_photo, _ = ways(shared, photo, found.headers)
        for path in (*of_photo, f"/videos/{photo['Hash']}/{found.headers['X-Preview-Token']}/avc"):
            assert send(shared, "GET", f"/api/v1{path}", token).status_code == 404, (album, name, path)
        for body in ({"photos": [photo["UID"]]}, {"files": [photo["Hash"]]}, {"files": [photo["FileUID"]]}):
            assert send(shared, "POST", "/api/v1/zip", token, body=body).status_code == 404, (album, name, body)


def walk(shared, token, hidden, also_open=()):
    """Ask every route about photos outside and inside; routes that are closed refuse, and no answer has a hidden word.

    Args:
        also_open: beginnings of further paths that are open to this token.
    """
    queries = ("", "?q=Outsidetitle", f"?s={shared.other}", "?count=50&q=person:Bob*&by=year", "?filter=private:true")
    places = (shared.album, "insidefile0"), (shared.other, "outsidefile0"), (shared.album, "insidefile2")
    preview = send(shared, "GET", "/api/v1/photos", token).headers["X-Preview-Token"]
    chosen = [shared.photos[name]["UID"] for name in ("outsidefile1", "insidefile0")]
    answers = {"closed": 0, "open": 0}
    for method, rule, view in routes(shared.api.library.app):
        if (method == "DELETE" and ("session" in rule.rule or "shared" in rule.rule)) or rule.rule == "/sign-out":
            continue  # would end the token or the share
        in_api, is_public = rule.rule.startswith("/api/v1"), getattr(view, ACTION, PUBLIC) == PUBLIC
        closed = in_api and not getattr(view, VISITORS, False) and not is_public
        closed = closed and not rule.rule.startswith(also_open or "no path")
        # A page takes no token in a header: it needs to be asked about one photo alone.
        is_page = rule.endpoint.startswith("photosvc_pages")
        for album, name in places[:1] if closed else places[1:2] if is_page else places:
            path = filled(rule, values_of(shared, album, shared.photos[name], preview))
            if path.endswith("/leave"):
                continue
            body = {"photos": chosen, "albums": [shared.other], "q": "Outsidetitle"} if method != "GET" else None
            for query in queries if method == "GET" and not closed and name == "insidefile0" else ("",):
                answer = send(shared, method, path, token, body=body, query=query)
                assert not closed or answer.status_code == 403, (method, path, answer.status_code)
                assert answer.status_code < 500 or answer.status_code == 501, (method, path, answer.text)
                refuses_to_tell(answer, hidden, path + str(body) + query)
                answers["closed" if closed else "open"] += 1
    assert answers["closed"] > 90, answers
    assert answers["open"] > 150, answers
