"""Adding received files to the originals: each content once, under a name of its own, with a wish to index it."""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from sqlalchemy import delete, not_, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.core.paths import open_inside
from photosvc.core.problems import Problem, Reason
from photosvc.index.running.wishes import wish
from photosvc.index.scanning.scan import is_gone
from photosvc.library.staging.errors import NameTakenError
from photosvc.library.uploads.inspect import Content, InspectionPool, ReceivedFile, inspect
from photosvc.library.uploads.names import Named, common_names, grouped
from photosvc.library.uploads.waiting import QuotaExceededError, bytes_left, lock_account
from photosvc.models import ORIGINALS_ROOT, File, RejectedFile, UploadedFile
from photosvc.models.database.inserts import insert_into
from photosvc.settings import Settings

ADDED, DUPLICATE, REFUSED = "added", "duplicate", "refused"

Writing: TypeAlias = Callable[[], AbstractContextManager[Session]]
#: Places a received file under a name, as `Part.place` does without `replace`.
Placing: TypeAlias = Callable[[ReceivedFile, str], object]
_UNLOADED: Final = {"synchronize_session": False}
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of a received file."""

    file: ReceivedFile
    status: str
    """`added`, `duplicate` or `refused`."""
    placed: str = ""
    """The name among the originals, also that of the file that a duplicate repeats."""
    problem: Problem | None = None
    """Why it was refused."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Adds received files to the originals.

    Args:
        settings: of the service.
        writing: begins a write transaction.
        place: gives a received file its name.
        now: the present.
        user_id: whose quota they count in; None for those of an import.
        albums: UIDs of albums that their photos are added to once they are indexed.
        pool: reads the files; by default each call of `admit` starts one.
        checks_quota: the files are not counted as those that wait are: they may not exceed the quota.

    """

    settings: Settings
    writing: Writing
    place: Placing
    now: datetime
    user_id: int | None = None
    albums: Sequence[str] = ()
    pool: InspectionPool | None = None
    checks_quota: bool = False

    def admit(self, files: Sequence[ReceivedFile]) -> list[Admitted]:
        """Add these files; files that belong together are in one transaction.

        Raises:
            QuotaExceededError: the account may not add so much.
            PhotosvcError: one cannot be stored; files before it are added, and the others wait.

        """
        found = inspect(files, self.settings, self.now, self.pool)
        outcomes = [self._refused(file, problem) for file in files if isinstance(problem := found[file.path], Problem)]
        contents = {path: content for path, content in found.items() if isinstance(content, Content)}
        groups, left = grouped([file for file in files if file.path in contents], contents)
        outcomes += [Admitted(file, REFUSED, problem=Problem(Reason.UNRELATED)) for file in left]
        for group in groups:
            with self.writing() as session:
                outcomes += self._admit_group(session, group, contents[group[0].file.path])
        order = {file.path: number for number, file in enumerate(files)}
        return sorted(outcomes, key=lambda outcome: order[outcome.file.path])

    def find(self, session: Session, file: ReceivedFile) -> str | None:
        """The name of the original with this content; its photo is added to the albums, in the write transaction."""
        name = self._stored(session, file)
        if name:
            self._remember_albums(session, file, name)
        return name or None

    def is_same(self, file: ReceivedFile, name: str) -> bool:
        """Whether the original of this name has the content of the file, by reading it."""
        digest = hashlib.sha1(usedforsecurity=False)
        try:
            with os.fdopen(open_inside(self.settings.originals, name), "rb") as original:
                if os.fstat(original.fileno()).st_size != file.size:
                    return False
                while piece := original.read(_PIECE):
                    digest.update(piece)
        except (OSError, NotFoundError):
            return False
        return digest.hexdigest() == file.hash

    def _refused(self, file: ReceivedFile, problem: Problem) -> Admitted:
        if problem.reason is Reason.VANISHED:
            with self.writing() as session:
                known = self._stored(session, file)
            if known:
                return Admitted(file, DUPLICATE, known)
        return Admitted(file, REFUSED, problem=problem)

    def _admit_group(self, session: Session, group: Sequence[Named], content: Content) -> Iterator[Admitted]:
        self._check_quota(session, group)
        outcomes = []
        for one in group:
            known = self._known(session, one.file)
            if known is not None:
                outcomes.append(Admitted(one.file, DUPLICATE, known))
                continue
            name = self._placed(group[0].file, content, one)
            session.execute(
                update(UploadedFile).where(UploadedFile.hash == one.file.hash).values(name=name),
                execution_options=_UNLOADED,
            )
            # A person may have removed the same file from the library before.
            session.execute(
                delete(RejectedFile).where(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.name == name),
                execution_options=_UNLOADED,
            )
            wish(session, self.now, name.rpartition("/")[0])
            outcomes.append(Admitted(one.file, ADDED, name))
        return iter(outcomes)

    def _check_quota(self, session: Session, group: Sequence[Named]) -> None:
        if not self.checks_quota or self.user_id is None or not self.settings.upload_quota:
            return
        lock_account(session, self.user_id)
        new = {one.file.hash: one.file.size for one in group if not self._stored(session, one.file)}
        left = bytes_left(session, self.settings, self.user_id)
        if left is not None and sum(new.values()) > left:
            raise QuotaExceededError

    def _known(self, session: Session, file: ReceivedFile) -> str | None:
        """The name of the original with this content; None when there is none and this file claims to be it."""
        if not self._stored(session, file):
            row = {
                "hash": file.hash,
                "user_id": self.user_id,
                "name": "",
                "size": file.size,
                "original_name": file.name,
                "albums": " ".join(self.albums),
                "created_at": self.now,
            }
            claim = insert_into(UploadedFile, session).values(row).on_conflict_do_nothing()
            if session.execute(claim.returning(UploadedFile.hash)).first() is not None:
                return None
            # Another transaction had claimed it; where its file is gone by now, this one takes its place.
            if not self._stored(session, file):
                again = update(UploadedFile).where(UploadedFile.hash == file.hash).values(row)
                session.execute(again, execution_options=_UNLOADED)
                return None
        known = self._stored(session, file)
        self._remember_albums(session, file, known)
        return known

    def _stored(self, session: Session, file: ReceivedFile) -> str:
        """The name of the original with this content, indexed or about to be; empty without one."""
        query = select(File.name).where(File.hash == file.hash, File.root == ORIGINALS_ROOT, File.missing.is_(False))
        indexed = session.scalar(query.order_by(File.id).limit(1))
        if indexed:
            return indexed
        # A file that the index refused, or that a person removed from the library, may be added again.
        refused = select(RejectedFile.id).where(
            RejectedFile.root == ORIGINALS_ROOT, RejectedFile.name == UploadedFile.name
        )
        claim = select(UploadedFile.name).where(UploadedFile.hash == file.hash, not_(refused.exists()))
        claimed = session.scalar(claim)
        return claimed if claimed and not is_gone(self.settings.originals, claimed) else ""

    def _remember_albums(self, session: Session, file: ReceivedFile, name: str) -> None:
        """Also the photo of a duplicate is added to the albums; the duplicate counts in no quota."""
        if not self.albums:
            return
        row = insert_into(UploadedFile, session).values(
            hash=file.hash, user_id=None, name=name, size=file.size, original_name=file.name,
            albums=" ".join(self.albums), created_at=self.now,
        )  # fmt: skip
        joined = UploadedFile.albums + " " + row.excluded.albums
        session.execute(row.on_conflict_do_update(index_elements=["hash"], set_={"albums": joined}))

    def _placed(self, main: ReceivedFile, content: Content, one: Named) -> str:
        """Place a file of a group; gives its name."""
        for common in (*common_names(main, content), *common_names(one.file, content)):
            name = common + one.ending
            try:
                self.place(one.file, name)
            except NameTakenError:
                # It is the same where a process ended after placing it.
                if not self.is_same(one.file, name):
                    continue
            return name
        raise NameTakenError
