"""The tables of jobs, uploads, selections for archives, and WebDAV locks and properties (RFC 4918 sections 4, 6)."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, Integer, false
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.accounts import User
from photosvc.models.base import Base, Numbered, RowId, Text, UTCDateTime


class Job(Numbered, table="jobs"):
    """A job, from the request to its report; see `jobs.queue`. Waiting jobs of one kind have different subjects."""

    __table_args__ = (Index(None, "kind", "started_at"),)

    kind: Mapped[str] = mapped_column(Text)
    """Name of a `jobs.queue.JobKind`."""
    subject: Mapped[str] = mapped_column(Text)
    """The folder, or the author and names of a change; empty for the whole library, random for albums."""
    arguments: Mapped[dict[str, Any]] = mapped_column(JSON)
    state: Mapped[str] = mapped_column(Text)
    """Value of a `jobs.queue.State`."""
    large: Mapped[bool]
    """True if the job gives way to others."""
    requested: Mapped[bool]
    """True if the job is retried until it is done; false for runs of a command, or of a watcher that retries itself."""
    cancelled: Mapped[bool]
    """True if the running job was asked to stop."""
    attempts: Mapped[int] = mapped_column(Integer)
    """The number of runs that began and were neither completed nor stopped from outside."""
    not_before: Mapped[datetime] = mapped_column(UTCDateTime)
    owner: Mapped[str] = mapped_column(Text)
    """The random name of the run that works on the job; empty if there is none."""
    leased_until: Mapped[datetime | None] = mapped_column(UTCDateTime)
    """The time at which another run may take over the job."""
    outcome: Mapped[str] = mapped_column(Text)
    """Outcome of the last run, a value of `jobs.queue.State`; empty before the first run."""
    report: Mapped[dict[str, Any]] = mapped_column(JSON)
    """Counts of the last run, and a `message`."""
    user_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(User.id, ondelete="SET NULL"), index=True)
    """The account that requested the job."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    started_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    """The beginning of the last run."""
    ended_at: Mapped[datetime | None] = mapped_column(UTCDateTime)


class JobFailure(Numbered, table="job_failures"):
    """A file for which a job failed."""

    job_id: Mapped[int] = mapped_column(RowId, ForeignKey(Job.id, ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(Text)
    """Path relative to the folder of the job."""
    reason: Mapped[str] = mapped_column(Text)
    """Code of a `core.problems.Reason`."""
    detail: Mapped[str] = mapped_column(Text)
    """Details of that problem, one a line."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)


class DavLock(Base, table="dav_locks"):
    """A write lock on a file or folder."""

    token: Mapped[str] = mapped_column(Text, primary_key=True)
    """A random token, which writing requests name in the header `If`."""
    root: Mapped[str] = mapped_column(Text, index=True)
    """The locked resource: its quoted path below the server, without a slash at the end."""
    user_uid: Mapped[str] = mapped_column(Text, index=True)
    exclusive: Mapped[bool]
    deep: Mapped[bool]
    """True if the lock covers everything below its root (`Depth: infinity`)."""
    owner: Mapped[str] = mapped_column(Text, default="")
    """The client's description of itself: the XML element `owner`, or empty."""
    seconds: Mapped[int]
    """The time for which the lock was granted."""
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)


class DavProperty(Base, table="dav_properties"):
    """A dead property of a file or folder: a value that a client stores and the server does not interpret."""

    __table_args__ = (Index(None, "user_uid", "size"),)

    path: Mapped[str] = mapped_column(Text, primary_key=True)
    """The resource, in the form of `DavLock.root`."""
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    """In Clark notation: `{namespace}name`."""
    value: Mapped[str] = mapped_column(Text)
    """The whole XML element in ASCII, with its namespaces declared."""
    size: Mapped[int] = mapped_column(Integer)
    """The number of characters of name and value."""
    user_uid: Mapped[str] = mapped_column(Text)
    """The user who wrote it, to whose limit it counts."""


class Upload(Numbered, table="uploads"):
    """A file that is being received; its bytes are in a part file in the staging folder."""

    __table_args__ = (Index(None, "user_id", "bundle"),)

    token: Mapped[str] = mapped_column(Text, unique=True)
    """The token of the part file; also the last segment of the address of a resumable upload."""
    user_id: Mapped[int] = mapped_column(RowId, ForeignKey(User.id, ondelete="CASCADE"))
    bundle: Mapped[str] = mapped_column(Text, default="")
    """The token in the address of an upload of several files, which are added together; empty for single files."""
    name: Mapped[str] = mapped_column(Text)
    """The name that the client gave, without folders."""
    size: Mapped[int] = mapped_column(BigInteger)
    """Bytes of the complete file."""
    hash: Mapped[str] = mapped_column(Text, default="")
    """SHA-1 of all bytes; empty until the file is complete."""
    described: Mapped[str] = mapped_column(Text, default="")
    """The header Upload-Metadata of a resumable upload."""
    finished: Mapped[bool] = mapped_column(default=False)
    """True if the file left the staging folder; the row stays for clients that did not receive the last answer."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)


class UploadedFile(Numbered, table="uploaded_files"):
    """An original that counts in the quota of an account, and may claim its content."""

    __table_args__ = (Index(None, "user_id", "size"), Index(None, "name"))

    hash: Mapped[str | None] = mapped_column(Text)
    """SHA-1 of the content that the file claims, so that it is stored only once; None for copies, and in the trash."""
    user_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(User.id, ondelete="SET NULL"))
    name: Mapped[str] = mapped_column(Text)
    """Path relative to the originals."""
    size: Mapped[int] = mapped_column(BigInteger)
    original_name: Mapped[str] = mapped_column(Text)
    """The name that the client gave."""
    link_uid: Mapped[str] = mapped_column(Text, default="", server_default="")
    """The UID of the public link by which a visitor sent it; empty for files that the account sent."""
    contributed: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if a visitor or a contributor sent it: it is a photo of its own, also if the library has its content, and
    claims its content only against other files of the same sender."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)


class ZipSelection(Numbered, table="zip_selections"):
    """The files of an archive, which one request selects and a later request of the same principal downloads."""

    name: Mapped[str] = mapped_column(Text, unique=True)
    """A random name, the last segment of the archive's address."""
    principal_uid: Mapped[str] = mapped_column(Text, index=True)
    """UID of the credential; in a host app, whose users have no credentials, UID of the user."""
    title: Mapped[str] = mapped_column(Text)
    """The name of the archive without its extension."""
    file_ids: Mapped[str] = mapped_column(Text)
    """A JSON array of file ids in the order of the archive."""
    expires_at: Mapped[datetime] = mapped_column(UTCDateTime, index=True)
