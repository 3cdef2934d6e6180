"""A small host app for tests: its own tables and routes, and photosvc below /media."""

import os
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Flask, session
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc import HostUser, PhotoService
from photosvc.index.run import run_index
from photosvc.index.run_log import IndexOptions
from photosvc.models import File
from photosvc.models.engine import begin_write
from photosvc.web.service import current_service
from tests.helpers.clock import MovedClock
from tests.helpers.factories.accounts import add_token
from tests.helpers.factories.photos import edit_photos
from tests.helpers.library import migrated_database
from tests.helpers.pictures import jpeg

#: The photos of each host: the last one is private.
NAMES = ("lake.jpg", "moon.jpg", "secret.jpg")


def new_app(folder, **config):
    """A Flask app with a database that has photosvc's tables, and the extension of that database."""
    folder.mkdir(exist_ok=True)
    database = folder / "host.db"
    if not database.exists():
        database.write_bytes(migrated_database(of_a_host=True))
    app = Flask("host", instance_path=str(folder))
    app.config.update(
        SECRET_KEY="x" * 32,
        SQLALCHEMY_DATABASE_URI=f"sqlite:///{database}",
        PHOTOSVC_ORIGINALS=folder / "originals",
        **config,
    )
    return app, SQLAlchemy(app)


@contextmanager
def open_host(folder, *, prefix="/media", config=None, prepare=None, **options):
    """A host with three photos, of which the last is private; its service lies in `app.service`.

    Args:
        folder: the instance folder, which is made.
        prefix: of the paths of photosvc.
        config: of the app.
        prepare: gets the app before photosvc is mounted.
        options: of `PhotoService.init_app`.

    """
    folder.mkdir()
    (folder / "host.db").write_bytes(_indexed_database())
    _put_originals(folder)
    app, db = new_app(folder, **(config or {}))
    if prepare is not None:
        prepare(app)
    options = {"clock": MovedClock(), "environ": {}} | options
    app.service = PhotoService(app, db=db, url_prefix=prefix, **options)
    add_sign_in(app)
    yield app
    with app.app_context():
        for engine in db.engines.values():
            engine.dispose()


@cache
def _indexed_database():
    with TemporaryDirectory() as name:
        folder = Path(name)
        _put_originals(folder)
        app, db = new_app(folder)
        PhotoService(app, db=db, environ={}, clock=MovedClock())
        with app.app_context():
            service = current_service()
            with Session(service.engine()) as database:
                run_index(database, service.settings, service.clock, IndexOptions(workers=1))
                private = database.scalars(select(File.photo_id).where(File.name == NAMES[-1])).one()
                begin_write(database)
                edit_photos(database, [private], private=True)
            db.engine.dispose()
        return (folder / "host.db").read_bytes()


def _put_originals(folder):
    (folder / "originals").mkdir()
    for number, name in enumerate(NAMES):
        path = folder / "originals" / name
        path.write_bytes(jpeg(64 + number, 48))
        os.utime(path, (1_600_000_000, 1_600_000_000))


def add_sign_in(app):
    """Routes by which a client becomes a user of the host, whose name is also the role, and nobody again."""

    @app.post("/sign-in/<name>")
    def sign_in(name):
        session["name"] = name
        return ""

    @app.post("/sign-out")
    def sign_out():
        session.clear()
        return ""


def who_signed_in():
    """The principal loader of these hosts."""
    name = session.get("name")
    return None if name is None else HostUser(id=name, role=name)


def token_of(app, scope="*"):
    """An access token of photosvc."""
    with app.app_context():
        service = current_service()
        with service.writing() as database:
            return add_token(database, service.now(), scope)


def found(answer):
    """The names of the files that a search found."""
    assert answer.status_code == 200, answer.text
    return sorted(record["FileName"] for record in answer.json)
