"""Uploads whose account or upload another request changes meanwhile."""

from importlib import import_module
from threading import Thread

from sqlalchemy import delete

from photosvc.index.requests import enqueue
from photosvc.models import Upload, User
from photosvc.models.engine import begin_write
from photosvc.web.service import current_service
from tests.app.uploads.tus_client import create, offset_of, patch, tus
from tests.app.uploads.upload_client import open_uploads, originals, picture, post, put
from tests.helpers.api_client import check_error


def delete_alice(api):
    with api.library.session() as session:
        begin_write(session)
        session.execute(delete(User).where(User.name == "alice"))


def test_files_of_an_account_that_is_deleted_while_they_arrive_are_refused(tmp_path, new_database, monkeypatch):
    def delete_account(proceed):
        def call(*given, **options):
            current_service().end_reading()
            delete_alice(api)
            return proceed(*given, **options)

        return call

    for number, step in enumerate(("web.uploads._receive", "api.resumable.append", "api.uploads.add_uploads",
                                   "api.resumable.add_uploads")):  # fmt: skip
        module, _, name = f"photosvc.{step}".rpartition(".")
        settings = {"PHOTOSVC_DATABASE_URI": new_database()}
        with (
            open_uploads(tmp_path / str(number), database=b"", settings=settings) as api,
            monkeypatch.context() as change,
        ):
            token, data = api.app_password("alice", "*"), picture(1)
            path = create(api, token, len(data)) if "resumable" in step else ""
            if step == "api.uploads.add_uploads":
                post(api, token, "gone", ("a.jpg", data))
            change.setattr(f"{module}.{name}", delete_account(getattr(import_module(module), name)))
            if path:
                answer = patch(api, token, path, data, 0)
            else:
                answer = put(api, token, "gone") if "add" in step else post(api, token, "gone", ("a.jpg", data))
            assert answer.status_code == 403, step
            assert check_error(answer, 403)["error"] == "The account was deleted while its files arrived.", step
            assert originals(api) == {}, step


def test_a_deleted_account_leaves_no_uploads_of_its_own(tmp_path, new_database):
    with open_uploads(tmp_path, database=b"", settings={"PHOTOSVC_DATABASE_URI": new_database()}) as api:
        path = create(api, api.app_password("alice", "files"), 10)
        delete_alice(api)
        with api.library.session() as session:
            assert session.query(Upload).count() == 0
        check_error(patch(api, api.app_password("ann", "files"), path, b"abc", 0), 404)


def test_who_asks_while_another_request_adds_the_file_is_told_to_ask_again(tmp_path, new_postgres, monkeypatch):
    asked, data = [], picture(62)
    with open_uploads(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_postgres()}) as api:
        monkeypatch.setattr("photosvc.api.resumable.wake_indexer", lambda _: None)
        token = api.app_password("alice", "files")
        path = create(api, token, len(data))

        def ask():
            asked.append(tus(api, token, "HEAD", path).status_code)
            asked.append(patch(api, token, path, b"", len(data)).status_code)

        def wish_when_placed(*given):
            thread = Thread(target=ask)
            thread.start()
            thread.join()
            return enqueue(*given)

        monkeypatch.setattr("photosvc.library.admission.enqueue", wish_when_placed)
        assert patch(api, token, path, data, 0).status_code == 204
        assert asked == [423, 423]
        assert offset_of(api, token, path) == len(data)
        assert len(originals(api)) == 1
