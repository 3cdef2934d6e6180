"""Records of the upkeep of a library: jobs, machines, index runs, imports, files with problems, and the trash."""

from typing import Final

from marshmallow import Schema, fields

from photosvc.records import limits
from photosvc.records.fields import (
    NUMBER,
    PHOTO_UID,
    TEXT,
    Flag,
    Length,
    LenientSchema,
    NullableTimestamp,
    Timestamp,
    about,
    rfc3339,
    texts,
    whole_number_field,
)

_TIME: Final = Timestamp()


def _path(description: str) -> fields.String:
    return fields.String(
        load_default="", allow_none=True, validate=Length(max=limits.PATH), metadata={"description": description}
    )


def _flag(description: str) -> Flag:
    return Flag(load_default=False, allow_none=True, metadata={"description": description})


class IndexRunSchema(LenientSchema):
    """A request for an index run."""

    path = _path("A folder below the originals; without it, all folders.")
    rescan = _flag("Read unchanged files again.")


class ImportRunSchema(LenientSchema):
    """A request for an import."""

    path = _path("A folder below PHOTOSVC_IMPORT_FOLDER; without it, all folders.")
    move = _flag("Remove files from the import folder after they are imported.")
    albums = texts(
        "UIDs of albums, or titles of new ones, that the photos are added to.", "Summer", most=50, longest=255
    )


class JobSchema(Schema):
    """A job, dumped from an object with `job` and its `state`, `message` and `counts`."""

    ID = fields.Integer(attribute="job.id")
    Kind = fields.String(attribute="job.kind")
    State = fields.String(
        attribute="state", metadata={"enum": ["waiting", "running", "done", "stopped", "failed", "interrupted"]}
    )
    Outcome = fields.String(attribute="job.outcome", metadata=about("Result of the last try."))
    Attempts = fields.Integer(attribute="job.attempts", metadata=about("Number of tries."))
    Message = fields.String(attribute="message", metadata=about("Cause of failure of the last try."))
    Counts = fields.Dict(
        keys=fields.String(),
        attribute="counts",
        metadata=about("Progress, with names that depend on the kind, such as `imported` or `percent`."),
    )
    CreatedAt = Timestamp(attribute="job.created_at")
    NotBefore = Timestamp(attribute="job.not_before", metadata=about("Earliest start of a waiting job."))
    StartedAt = NullableTimestamp(attribute="job.started_at")
    EndedAt = NullableTimestamp(attribute="job.ended_at")


class IndexRequestSchema(Schema):
    """An index run that waits."""

    Path = fields.String(attribute="folder")
    Rescan = fields.Boolean(attribute="force")


class IndexReportSchema(Schema):
    """An index run that began."""

    ID = fields.Integer(attribute="id")
    Path = fields.String(attribute="folder")
    Rescan = fields.Boolean(attribute="force")
    State = fields.String(attribute="state", metadata={"enum": ["running", "done", "stopped", "failed", "interrupted"]})
    Message = fields.String(attribute="message")
    Total = fields.Integer(attribute="to_read", metadata=about("Number of new and changed files, which the run reads."))
    Done = fields.Integer(attribute="read", metadata=about("Number of files of `Total` that have been read."))
    Indexed = fields.Integer(attribute="indexed")
    Updated = fields.Integer(attribute="updated")
    Unchanged = fields.Integer(attribute="unchanged")
    Missing = fields.Integer(attribute="missing")
    Skipped = fields.Integer(attribute="skipped")
    Failed = fields.Integer(attribute="failed")
    StartedAt = Timestamp(attribute="started_at")
    EndedAt = NullableTimestamp(attribute="ended_at")


class ImportRequestSchema(Schema):
    """An import that waits."""

    Path = fields.String(attribute="subject")
    Move = fields.Boolean(attribute="arguments.moves")
    WishedAt = Timestamp(attribute="created_at")


class ImportReportSchema(Schema):
    """An import that began."""

    ID = fields.Integer(attribute="job.id")
    Path = fields.String(attribute="job.subject")
    Move = fields.Boolean(attribute="job.arguments.moves")
    State = fields.String(attribute="state", metadata={"enum": ["running", "done", "stopped", "failed"]})
    Message = fields.String(attribute="job.report.message", dump_default="")
    Imported = fields.Integer(attribute="job.report.imported", dump_default=0)
    Duplicate = fields.Integer(attribute="job.report.duplicate", dump_default=0)
    Skipped = fields.Integer(attribute="job.report.skipped", dump_default=0)
    Failed = fields.Integer(attribute="job.report.failed", dump_default=0)
    Failures = fields.Function(
        lambda report: [
            {"Name": name, "Code": problem.reason.value, "Error": problem.sentence} for name, problem in report.failures
        ],
        metadata={"type": "array", "items": {"type": "object"}},
    )
    WishedAt = Timestamp(attribute="job.created_at")
    StartedAt = Timestamp(attribute="job.started_at")
    EndedAt = NullableTimestamp(attribute="job.ended_at")


class FailedFileSchema(Schema):
    """A file that could not be indexed, shown or imported."""

    ID = fields.Integer(attribute="id")
    Time = Timestamp(attribute="at")
    Level = fields.String(attribute="level", metadata={"enum": ["error", "warning"]})
    Message = fields.String(attribute="message")
    Source = fields.String(attribute="source", metadata={"enum": ["index", "import"]})
    Name = fields.String(attribute="name")
    Code = fields.String(attribute="problem.reason.value")


class TrashedFileSchema(Schema):
    """An original in the trash, dumped from it, the UID of its photo, and the time of its deletion for good."""

    Item = fields.Function(lambda row: row[0].item, metadata=TEXT)
    Name = fields.Function(lambda row: row[0].name, metadata=TEXT)
    Size = fields.Function(lambda row: row[0].size, metadata=NUMBER)
    DeletedAt = fields.Function(lambda row: _TIME.serialize("deleted_at", row[0]), metadata=TEXT)
    KeptUntil = fields.Function(
        lambda row: row[2] and rfc3339(row[2]),
        metadata={"type": ["string", "null"], "description": "null: it stays until the trash is emptied."},
    )
    PhotoUID = fields.Function(lambda row: row[1], metadata=TEXT)


class RestoreSchema(LenientSchema):
    """A request to restore files from the trash."""

    items = texts(
        "`Item`s of the list, or the part of an `Item` before its first slash.", most=limits.ITEMS, longest=8192
    )
    photos = texts("UIDs of photos.", PHOTO_UID, most=limits.ITEMS)
    all = Flag(load_default=False, metadata=about("Everything in the trash."))


class TrashedPhotosSchema(LenientSchema):
    """A request to delete photos in the trash for good."""

    photos = texts("UIDs of photos that the own account deleted.", PHOTO_UID, most=limits.ITEMS)


class EmptySchema(LenientSchema):
    """A request to empty the trash."""

    days = whole_number_field("Only files deleted at least this number of days ago.", 0, 36_500, example=30)
    expected = whole_number_field("Expected number of files; with another number none is deleted.", 0)
