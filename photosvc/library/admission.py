"""The admission of received files to the originals: each content once, under a name of its own, then to be indexed.

A name has the folder of the month, the local time at which the picture was taken, and the first digits of the SHA-1:
`2024/05/20240501_120000_1A2B3C4D.jpg`. Files that belong together by their names get one name, so that RAW and JPEG,
Live Photos and sidecars stay together.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, delete, not_, select, update
from sqlalchemy.orm import Session

from photosvc.core.problems import Problem, Reason, Severity
from photosvc.index.describe import Taken
from photosvc.index.exclusions import Exclusions
from photosvc.index.name_groups import group_key, is_edited, owner_of, suffix_of
from photosvc.index.requests import enqueue
from photosvc.index.sidecar_names import companions, is_read
from photosvc.library import originals
from photosvc.library.album_jobs import queue_albums
from photosvc.library.content import (
    FileContent,
    InspectionPool,
    KnownOriginals,
    ReceivedFile,
    Transaction,
    check_disk,
    inspect,
    taken_by,
)
from photosvc.library.storage_errors import NameTakenError
from photosvc.library.upload_queue import QuotaExceededError, bytes_left, lock_account, require_account
from photosvc.media.metadata import DAY, MONTH
from photosvc.models import ORIGINALS_ROOT, File, RejectedFile, UploadedFile
from photosvc.models.statements import UNLOADED, insert_into
from photosvc.settings import Settings

#: Digits of the hash in a name: more if another file has the name already. Names of strangers begin with 16: eight
#: can be found by trial for another file, whose sidecars would then count for the stranger's file.
_DIGITS: Final = (8, 16, 40)
_DIGITS_OF_STRANGERS: Final = _DIGITS[1:]
#: Media types by the trust in their times, the most trusted first.
_ORDER: Final = {"raw": 0, "image": 1, "animated": 2, "video": 3}
ADDED, DUPLICATE, REFUSED = "added", "duplicate", "refused"
#: The statuses of stored files whose picture is damaged, or cannot be shown by this installation.
DAMAGED, NOT_SHOWN = "damaged", "not_shown"
#: Problems of healthy files that are beyond the limits or abilities of the decoders.
_BEYOND: Final = frozenset(
    {Reason.TOO_LARGE, Reason.OVER_MEMORY, Reason.BOMB, Reason.UNREAD_PIXELS, Reason.RAW_WITHOUT_COLORS}
)
#: Gives a received file a name among the originals, as `staging.add_original` does.
Placing: TypeAlias = Callable[[ReceivedFile, str, ExitStack], object]
_NO_PICTURE: Final = Problem.of(Reason.WRONG_CONTENT, "picture or video")


def stored_status(problem: Problem | None) -> str:
    """Return the status of a stored file with this problem; `added` without one, or if the problem may pass."""
    if problem is None or problem.reason.may_pass:
        return ADDED
    is_whole = problem.reason.severity is Severity.SKIPPED or problem.reason in _BEYOND
    return NOT_SHOWN if is_whole else DAMAGED


class GroupMember(NamedTuple):
    """A file of a group, and the ending of its name after the common part, such as `.jpg` or `.jpg.xmp`."""

    file: ReceivedFile
    ending: str


def group_received(
    files: Sequence[ReceivedFile], contents: Mapping[Path, FileContent]
) -> tuple[list[list[GroupMember]], list[ReceivedFile]]:
    """Return groups of files that belong together, and the sidecars without a picture.

    The first file of a group gives it its time. Several files of one name and format, such as the `image.jpg` of some
    apps, come from different folders: each is a group of its own and keeps its time. No sidecar of that name has an
    owner then.
    """
    folders: dict[str, list[ReceivedFile]] = {}
    for file in files:
        folders.setdefault(file.folder, []).append(file)
    groups: list[list[GroupMember]] = []
    unowned: list[ReceivedFile] = []
    for of_folder in folders.values():
        pictures = [file for file in of_folder if contents[file.path].media_type != "sidecar"]
        sidecars = [file for file in of_folder if contents[file.path].media_type == "sidecar"]
        by_stem = _by_stem(pictures, contents)
        ambiguous = {
            stem: group for stem, group in by_stem.items() if len({member.ending for member in group}) < len(group)
        }
        whole = {stem: group for stem, group in by_stem.items() if stem not in ambiguous}
        unowned += _add_sidecars(whole, sidecars, {file.name for file in pictures})
        groups += whole.values()
        groups += ([member] for group in ambiguous.values() for member in group)
    return groups, unowned


def _by_stem(pictures: Iterable[ReceivedFile], contents: Mapping[Path, FileContent]) -> dict[str, list[GroupMember]]:
    by_stem: dict[str, list[ReceivedFile]] = {}
    for file in pictures:
        by_stem.setdefault(group_key(file.name), []).append(file)
    groups = {}
    for stem, group in by_stem.items():
        group.sort(key=lambda file: (is_edited(file.name), _ORDER[contents[file.path].media_type], file.name))
        suffixes = {file.path: suffix_of(file.name) for file in group}
        needed = len(set(suffixes.values())) > 1
        groups[stem] = [
            GroupMember(file, f"{suffixes[file.path] if needed else ''}.{contents[file.path].extension}")
            for file in group
        ]
    return groups


def _add_sidecars(
    groups: Mapping[str, list[GroupMember]], sidecars: Sequence[ReceivedFile], pictures: AbstractSet[str]
) -> Iterator[ReceivedFile]:
    """Add the sidecars of a folder to the groups of its pictures; yield the sidecars that belong to no picture."""
    owners = companions({*pictures, *(file.name for file in sidecars)})
    for file in sidecars:
        pictured = [name for name in owners.get(file.name, ()) if name in pictures]
        owner = owner_of(pictured) if pictured else ""
        group = groups.get(group_key(owner))
        if group is None or not is_read(file.name):
            yield file
            continue
        owner_ending = next(member.ending for member in group if member.file.name == owner)
        suffix = PurePosixPath(file.name).suffix.lower()
        group.append(GroupMember(file, suffix if suffix == ".aae" else owner_ending + suffix))


def common_names(main: ReceivedFile, when: Taken, lengths: Sequence[int] = _DIGITS) -> Iterator[str]:
    """Yield the beginnings that a group's names may have, relative to the originals; the first free one is used.

    An unknown day or month stays out of the name, because the index would read it from there.
    """
    local = when.local
    folder, stamp = f"{local.year:04}/{local.month:02}", f"{local.year:04}{local:%m%d_%H%M%S}_"
    if 0 < when.parts < DAY:
        folder, stamp = folder[: 7 if when.parts == MONTH else 4], ""
    for digits in lengths:
        yield f"{folder}/{stamp}{main.hash[:digits].upper()}"


def _is_sidecar(content: FileContent | Problem) -> bool:
    return isinstance(content, FileContent) and content.media_type == "sidecar"


@dataclass(frozen=True, slots=True)
class Admitted:
    """The result of admitting a received file."""

    file: ReceivedFile
    status: str
    """`added`, `damaged`, `not_shown`, `duplicate` or `refused`."""
    placed: str = ""
    """The name among the originals; for a duplicate, the name of the equal original."""
    problem: Problem | None = None
    """Why the file was refused, or cannot be shown."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The admission of received files to the originals.

    Args:
        user_id: the account whose quota counts the files; None for the files of an import.
        albums: UIDs of albums that get the photos once these are indexed.
        folder_albums: folder -> the UID of a further album for its photos.
        pool: reads the files; by default each call of `admit` starts one.
        checks_quota: true if the quota does not count the files yet, as it does waiting uploads.
        is_stranger: true if the sender must neither learn nor change what the library has. Each content is stored as a
            photo of its own, even if the library has it, and sidecars are refused. Only a file that the same sender
            sent before is a duplicate, and is reported as added.
        link_uid: the public link by which a visitor sent the files; empty for files of accounts.
        require: raises an error, in each transaction, if the files may not be added any more.
    """

    settings: Settings
    writing: Transaction
    place: Placing
    now: datetime
    user_id: int | None = None
    albums: Sequence[str] = ()
    pool: InspectionPool | None = None
    checks_quota: bool = False
    is_stranger: bool = False
    link_uid: str = ""
    require: Callable[[Session], object] | None = None
    folder_albums: Mapping[str, str] = field(default_factory=dict)
    known_originals: KnownOriginals = field(init=False)
    _subjects: dict[tuple[str, ...], str] = field(default_factory=dict, init=False)
    """Albums -> the last result of `queue_albums`; if its transaction was rolled back, no job has this subject."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "known_originals", KnownOriginals(self.settings, self._claims, self.is_stranger))

    def admit(self, files: Sequence[ReceivedFile]) -> list[Admitted]:
        """Add these files; files that belong together are added in one transaction.

        Raises:
            QuotaExceededError: the quota of the account is used up.
            AccountDeletedError: the account was deleted.
            PhotosvcError: a file cannot be stored; files before it are added, and the others wait.
        """
        # The answer to a visitor does not wait for the index, so damaged pictures are found by decoding them here.
        inspected = dict(inspect(files, self.settings, self.pool, decode=self.is_stranger))
        if self.is_stranger:
            inspected.update({path: _NO_PICTURE for path, content in inspected.items() if _is_sidecar(content)})
        outcomes = [
            self._refused(file, problem) for file in files if isinstance(problem := inspected[file.path], Problem)
        ]
        contents = {path: content for path, content in inspected.items() if isinstance(content, FileContent)}
        groups, unowned = group_received([file for file in files if file.path in contents], contents)
        if self.is_stranger:  # many files of one name would be one long transaction, which blocks all other writers
            groups = [[member] for group in groups for member in group]
        outcomes += [Admitted(file, REFUSED, problem=Problem(Reason.UNRELATED)) for file in unowned]
        exclusions = Exclusions(self.settings.originals)
        for whole in groups:
            when = taken_by(
                [(member.file, contents[member.file.path]) for member in whole], self.now, self.settings.timezone
            )
            common = next(iter(common_names(whole[0].file, when)))
            group = [member for member in whole if not exclusions.exclude(common + member.ending)]
            excluded = [member.file for member in whole if member not in group]
            outcomes += [Admitted(file, REFUSED, problem=Problem(Reason.EXCLUDED)) for file in excluded]
            if not group:
                continue
            with originals.undo_on_error() as undo:
                admitted = partial(self._admit_group, group, when, undo)
                admitted_files = self.known_originals.settle(self.writing, admitted)
                outcomes += (self._judged(outcome, contents[outcome.file.path]) for outcome in admitted_files)
        order = {file.path: number for number, file in enumerate(files)}
        return sorted(outcomes, key=lambda outcome: order[outcome.file.path])

    def albums_in(self, folder: str) -> tuple[str, ...]:
        """Return the UIDs of the albums that get the photos of a folder."""
        folder_album = self.folder_albums.get(folder)
        return tuple(dict.fromkeys((*self.albums, *((folder_album,) if folder_album else ()))))

    def find(self, transaction: Transaction, file: ReceivedFile) -> str | None:
        """Return the name of the original with this content, and add its photo to the albums in the transaction.

        Raises:
            StorageFailedError: the disk of the originals is missing or fails.
        """

        def look(session: Session) -> str | None:
            if name := self.known_originals.name_of(session, file):
                self._queue_albums(session, {file.hash: name}, file.folder)
            return name or None

        return self.known_originals.settle(transaction, look)

    @property
    def _claims(self) -> Sequence[ColumnElement[bool]]:
        """Return the conditions on the claims of content that make these files duplicates."""
        if not self.is_stranger:
            return (not_(UploadedFile.contributed),)
        return (
            UploadedFile.contributed.is_(True),
            UploadedFile.user_id == self.user_id,
            UploadedFile.link_uid == self.link_uid,
        )

    def _claim_of(self, file: ReceivedFile) -> Sequence[ColumnElement[bool]]:
        return (UploadedFile.hash == file.hash, *self._claims)

    def _judged(self, outcome: Admitted, content: FileContent) -> Admitted:
        """Return the outcome of a stored file; for a stranger it has the problem of the picture."""
        problem = content.extraction.problem if self.is_stranger and content.extraction else None
        status = stored_status(problem)
        return outcome if status == ADDED else replace(outcome, status=status, problem=problem)

    @property
    def _duplicate(self) -> str:
        """Return the status that duplicates are reported with."""
        return ADDED if self.is_stranger else DUPLICATE

    def _refused(self, file: ReceivedFile, problem: Problem) -> Admitted:
        if problem.reason is Reason.VANISHED:
            present = self.known_originals.settle(self.writing, partial(self._present_name, file))
            if present:
                return Admitted(file, self._duplicate, present)
        return Admitted(file, REFUSED, problem=problem)

    def _present_name(self, file: ReceivedFile, session: Session) -> str:
        check_disk(session, self.settings)
        return self.known_originals.name_of(session, file)

    def _check_group(self, group: Sequence[GroupMember], session: Session) -> None:
        """Check that a group may be added, before a file of it is placed."""
        for member in group:  # this may read originals outside of the transaction
            self._present_name(member.file, session)
        if self.user_id is not None:
            require_account(session, self.user_id)
        if self.require is not None:
            self.require(session)
        self._check_quota(session, group)

    def _admit_group(
        self, group: Sequence[GroupMember], when: Taken, undo: ExitStack, session: Session
    ) -> list[Admitted]:
        self._check_group(group, session)
        outcomes = []
        for member in group:
            present = self._find_or_claim(session, member.file)
            if present is not None:
                outcomes.append(Admitted(member.file, self._duplicate, present))
                continue
            name = self._placed(group[0].file, when, member, undo, session)
            named = update(UploadedFile).where(*self._claim_of(member.file)).values(name=name)
            session.execute(named, execution_options=UNLOADED)
            # A person may have removed the same file from the library before.
            rejected = delete(RejectedFile).where(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.name == name)
            session.execute(rejected, execution_options=UNLOADED)
            enqueue(session, self.now, name.rpartition("/")[0])
            outcomes.append(Admitted(member.file, ADDED, name))
        self._queue_albums(session, {outcome.file.hash: outcome.placed for outcome in outcomes}, group[0].file.folder)
        return outcomes

    def _check_quota(self, session: Session, group: Sequence[GroupMember]) -> None:
        if not self.checks_quota or self.user_id is None or not self.settings.upload_quota:
            return
        lock_account(session, self.user_id)
        new_sizes = {
            member.file.hash: member.file.size
            for member in group
            if not self.known_originals.name_of(session, member.file)
        }
        allowed = bytes_left(session, self.settings, self.user_id)
        if allowed is not None and sum(new_sizes.values()) > allowed:
            raise QuotaExceededError

    def _find_or_claim(self, session: Session, file: ReceivedFile) -> str | None:
        """Return the name of the original with this content; None if there is none: this file claims the content."""
        if not self.known_originals.name_of(session, file):
            if self._claim(session, file):
                return None
            # Another transaction had claimed the content. If its file is gone by now, this file takes its place.
            if not self.known_originals.name_of(session, file):
                again = update(UploadedFile).where(*self._claim_of(file)).values(self._row(file))
                session.execute(again, execution_options=UNLOADED)
                return None
        return self.known_originals.name_of(session, file)

    def _claim(self, session: Session, file: ReceivedFile) -> bool:
        """Claim a content for this file; return False if another file has claimed it."""
        claim = insert_into(UploadedFile, session).values(self._row(file)).on_conflict_do_nothing()
        return session.execute(claim.returning(UploadedFile.hash)).first() is not None

    def _row(self, file: ReceivedFile) -> dict[str, object]:
        return {
            "hash": file.hash,
            "user_id": self.user_id,
            "name": "",
            "size": file.size,
            "original_name": file.name,
            "link_uid": self.link_uid,
            "contributed": self.is_stranger,
            "created_at": self.now,
        }

    def _queue_albums(self, session: Session, files: Mapping[str, str], folder: str) -> None:
        """Request the albums of pictures, duplicates included; sidecars follow their pictures."""
        pictures = [content for content, name in files.items() if not is_read(name)]
        albums = self.albums_in(folder)
        if albums and pictures:
            sender = self.link_uid if self.is_stranger else None
            subject = self._subjects.get(albums, "")
            self._subjects[albums] = queue_albums(
                session, subject, pictures, albums, self.now, self.user_id, contributed_by=sender
            )

    def _placed(self, main: ReceivedFile, when: Taken, member: GroupMember, undo: ExitStack, session: Session) -> str:
        """Place a file of a group and return its name; `undo` gets a function that puts it back for another try."""
        lengths = _DIGITS_OF_STRANGERS if self.is_stranger else _DIGITS
        commons = [*common_names(main, when, lengths), *common_names(member.file, when, lengths)]
        commons.append(f"{commons[0]}_{secrets.token_hex(4)}")
        for common in commons:
            name = common + member.ending
            try:
                self.place(member.file, name, undo)
            except NameTakenError:
                # A process that was killed after it placed the file left an equal one, which no row names.
                if _is_known(session, name) or not self.known_originals.has_content(name, member.file):
                    continue
            return name
        raise NameTakenError


def _is_known(session: Session, name: str) -> bool:
    """Return whether an original of this name is indexed, or about to be."""
    indexed = select(File.id).where(File.root == ORIGINALS_ROOT, File.name == name, not_(File.missing))
    claimed = select(UploadedFile.id).where(UploadedFile.name == name)
    return session.scalar(indexed) is not None or session.scalar(claimed.limit(1)) is not None
