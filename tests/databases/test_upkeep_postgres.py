"""Purge, check and requests of a library on PostgreSQL."""

import json

from click.testing import CliRunner
from sqlalchemy import select

from photosvc.cli import svc
from photosvc.index.check import Check, CheckOptions
from photosvc.models import File, Photo
from photosvc.models.engine import UnitOfWork
from photosvc.web.service import current_service
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library


def test_what_is_gone_is_purged_and_the_rest_is_as_the_library_says(tmp_path, new_postgres):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_postgres()})
    with library.session() as session:
        add_photos(session, 12, NOW)
        names = session.scalars(select(File.name).order_by(File.name)).all()
    for name in names[:4]:
        library.put(name, b"data")
    findings = []
    with library.app.app_context(), UnitOfWork(current_service().engine()) as session:
        service = current_service()
        options = CheckOptions(sample=100)
        report = Check(session, service.settings, service.picture_cache, options, findings.append).run()
    assert {finding.fault.value for finding in findings} == {"gone", "changed"}
    assert (report.files, report.photos.total()) == (len(names), 12)
    done = CliRunner().invoke(svc, ["purge", "--hard", "--yes", "--json"], obj=lambda: library.app)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["removed"]["files"] == len(names) - 4
    findings.clear()
    with library.app.app_context(), UnitOfWork(current_service().engine()) as session:
        report = Check(session, service.settings, service.picture_cache, CheckOptions(), findings.append).run()
        assert set(session.scalars(select(File.name))) == set(names[:4])
        assert session.scalars(select(Photo.id)).all()
    assert {finding.fault.value for finding in findings} == {"changed"}
    assert sorted(library.names(count=100)) == sorted(names[:4])
    library.close()
