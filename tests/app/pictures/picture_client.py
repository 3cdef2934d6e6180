"""A library with pictures, and requests for them, for tests of pictures over HTTP."""

from concurrent.futures import Future
from io import BytesIO

from PIL import Image
from sqlalchemy import select

from photosvc.core.errors import PhotosvcError
from photosvc.models import File, Photo
from photosvc.pictures.render import make_thumbnails
from photosvc.search.rows.write import project
from photosvc.web.service import current_service
from tests.helpers.api_client import ApiClient

#: What browsers send for the source of an `img` element.
BROWSER = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"


class WorkersInProcess:
    """Stands for worker processes: works in this one, at once or, while it is held, when a test lets it."""

    def __init__(self, function):
        self.function = function
        self.jobs, self.held, self.is_held = [], [], False

    def submit(self, job, owner, *, last=False):
        made = Future()
        self.jobs.append(job)
        self.held.append((job, made))
        if not self.is_held:
            self.go_on()
        return made

    def go_on(self):
        while self.held:
            job, made = self.held.pop(0)
            if made.set_running_or_notify_cancel():
                try:
                    made.set_result(self.function(job))
                except PhotosvcError as error:
                    made.set_exception(error)


class PictureClient:
    """Asks for the pictures of a library, by the names of their files."""

    def __init__(self, api: ApiClient) -> None:
        self.api = api
        self.library = api.library
        self._tokens: dict[str, tuple[str, str]] = {}

    def put(self, name, data):
        """Add an original and index it; gives its hash."""
        self.library.put(name, data)
        self.library.index()
        return self.hash_of(name)

    def hash_of(self, name):
        with self.library.session() as session:
            return session.scalars(select(File.hash).where(File.name == name)).one()

    def photo_uid(self, name):
        with self.library.session() as session:
            return session.scalars(select(Photo.uid).join(File).where(File.name == name)).one()

    def change(self, name, **values):
        """Set columns of the photo of a file, and render its search rows again."""
        with self.library.session() as session:
            photo = session.scalars(select(Photo).join(File).where(File.name == name)).one()
            for column, value in values.items():
                setattr(photo, column, value)
            session.flush()
            project(session, [photo.id])

    def cache(self):
        """The cache of derived pictures."""
        with self.library.app.app_context():
            return current_service().picture_cache

    def tokens(self, credential=None):
        """The preview and the download token that a search gives to this credential."""
        credential = credential or self.library.token("photos", role="admin")
        answer = self.api.call("GET", "/photos", credential)
        assert answer.status_code == 200, answer.text
        return answer.headers["X-Preview-Token"], answer.headers["X-Download-Token"]

    @property
    def preview(self):
        if "preview" not in self._tokens:
            self._tokens["preview"] = self.tokens()
        return self._tokens["preview"][0]

    def thumbnail(self, content_hash, size="fit_720", token=None, *, method="GET", query="", **headers):
        """The answer to a request for a thumbnail; headers by name, `_` for `-`."""
        path = f"/t/{content_hash}/{token or self.preview}/{size}{query}"
        return self.api.call(method, path, headers=named(headers), buffered=True)

    def download(self, content_hash, token=None, *, method="GET", query="", **headers):
        """The answer to a request for an original."""
        token = token or self.tokens()[1]
        return self.api.call(method, f"/dl/{content_hash}?t={token}{query}", headers=named(headers), buffered=True)

    def pixels(self, content_hash, size="fit_720", **headers):
        """The decoded thumbnail."""
        answer = self.thumbnail(content_hash, size, **headers)
        assert answer.status_code == 200, answer.text
        return Image.open(BytesIO(answer.data))


def named(headers):
    return {name.replace("_", "-"): value for name, value in headers.items()}


def replace_workers(pictures, monkeypatch):
    """Have thumbnails made in this process."""
    workers = WorkersInProcess(make_thumbnails)
    with pictures.library.app.app_context():
        monkeypatch.setattr(current_service().pictures.thumbnails, "_workers", lambda: workers)
    return workers
