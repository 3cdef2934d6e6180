"""A library with an album that its owner shares by links and with accounts."""

from sqlalchemy import select

from photosvc.models import Upload
from tests.app.uploads.upload_client import FORM, form_of, parts, picture, used_quota
from tests.helpers.api_client import HASH, check_error
from tests.helpers.factories.accounts import add_user

ALBUM = "Summer at the lake"


class Sharing:
    """The owner `alice`, the guest `gus`, and four photos: `member` is in the album, two others are hidden."""

    def __init__(self, api):
        self.api = api
        names = ("known", "private", "archived", "member")
        self.pictures = {name: picture(number) for number, name in enumerate(names)}
        for name, data in self.pictures.items():
            api.library.put(f"{name}.jpg", data)
        api.library.index()
        with api.library.session() as session:
            api.uids["gus"] = add_user(session, "gus", "guest", password_hash=HASH).uid
        self.token, self.guest = api.app_password(), api.session_of("gus")
        self.photos = {photo["Name"]: photo for photo in self.call("GET", "/photos").json}
        self.uids = {name: photo["UID"] for name, photo in self.photos.items()}
        self.call("PUT", f"/photos/{self.uids['private']}", json={"Private": True})
        self.call("POST", "/batch/photos/archive", json={"photos": [self.uids["archived"]]})
        self.album = self.make_album(ALBUM)
        self.put_in(self.album, "member")

    def call(self, method, path, token=None, **options):
        return self.api.call(method, path, token or self.token, **options)

    def make_album(self, title, **values):
        return self.call("POST", "/albums", json={"Title": title, **values}).json["UID"]

    def put_in(self, album, name):
        answer = self.call("POST", f"/albums/{album}/photos", json={"photos": [self.uids[name]]})
        assert answer.status_code == 200, answer.text

    def links(self, method="GET", rest="", *, token=None, album=None, **values):
        json = values if method in {"POST", "PUT"} else None
        return self.call(method, f"/albums/{album or self.album}/links{rest}", token, json=json)

    def link(self, **values):
        answer = self.links("POST", **values)
        assert answer.status_code == 200, answer.text
        return answer.json

    def change(self, link, **values):
        return self.links("PUT", f"/{link['UID']}", **values)

    def end(self, link):
        assert self.links("DELETE", f"/{link['UID']}").status_code == 200

    def open(self, link, address="198.51.100.1", **values):
        token = link["Token"] if isinstance(link, dict) else link
        return self.api.call("POST", "/session", json={"token": token, **values}, address=address)

    def visit(self, link, **values):
        answer = self.open(link, **values)
        assert answer.status_code == 200, answer.text
        return answer.json["access_token"]

    def share(self, account="gus", role="contributor", album=None, token=None):
        body = {"Account": account, "Role": role}
        return self.call("POST", f"/albums/{album or self.album}/accounts", token, json=body)

    def accounts(self, method="GET", rest="", json=None):
        return self.call(method, f"/albums/{self.album}/accounts{rest}", json=json)

    def add(self, token, *files, album=None, **options):
        path = f"/shared/{album or self.album}/photos"
        return self.call("POST", path, token, data=form_of(*files), content_type=FORM, **options)

    def refuses(self, token, status, *, album=None, data=None):
        """Make sure that a picture is refused with this status and leaves nothing."""
        before = self.files()
        check_error(self.add(token, ("new.jpg", data or picture(9)), album=album), status)
        assert (self.files(), self.waits()) == (before, [])

    def files(self):
        return sorted(path.name for path in self.api.library.originals.rglob("*.jpg"))

    def waits(self):
        with self.api.library.session() as session:
            return [*session.scalars(select(Upload.name)), *parts(self.api)]

    def sees(self, token):
        return self.call("GET", "/photos", token).status_code

    def in_album(self, token=None, album=None):
        answer = self.call("GET", f"/photos?s={album or self.album}&count=99", token)
        assert answer.status_code == 200, answer.text
        return {photo["UID"]: photo for photo in answer.json}

    def set_account(self, name="alice", **values):
        answer = self.call("PUT", self.api.user_path(name), self.api.session_of("ann"), json=values)
        assert answer.status_code == 200, answer.text

    def audit(self, event):
        return self.call("GET", f"/audit?event={event}", self.api.session_of("ann")).json

    def used(self, name="alice"):
        return used_quota(self.api, name)
