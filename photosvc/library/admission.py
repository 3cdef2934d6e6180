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
from photosvc.index.requests import wish
from photosvc.index.sidecar_values import companions, is_read
from photosvc.library import originals
from photosvc.library.album_jobs import wish_albums
from photosvc.library.content import (
    Content,
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

#: Digits of the hash in a name: more where another file has the name already. Files of strangers begin with 16: they
#: could try until eight are those of another file, whose sidecars would then be taken for theirs.
_DIGITS: Final = (8, 16, 40)
_DIGITS_OF_STRANGERS: Final = _DIGITS[1:]
#: Files by trust in their time.
_ORDER: Final = {"raw": 0, "image": 1, "animated": 2, "video": 3}
ADDED, DUPLICATE, REFUSED = "added", "duplicate", "refused"
#: The statuses of stored files whose picture is damaged, or cannot be shown by this installation.
DAMAGED, NOT_SHOWN = "damaged", "not_shown"
#: Problems of healthy files that are beyond the limits or abilities of the decoders.
_BEYOND: Final = frozenset(
    {Reason.TOO_LARGE, Reason.OVER_MEMORY, Reason.BOMB, Reason.UNREAD_PIXELS, Reason.RAW_WITHOUT_COLORS}
)
#: A function that gives a received file a name, as `add_original` does.
Placing: TypeAlias = Callable[[ReceivedFile, str, ExitStack], object]
_NO_PICTURE: Final = Problem.of(Reason.WRONG_CONTENT, "picture or video")


def stored_status(problem: Problem | None) -> str:
    """Return the status of a stored file that cannot be shown because of this problem; `added` if that may pass."""
    if problem is None or problem.reason.may_pass:
        return ADDED
    is_whole = problem.reason.severity is Severity.SKIPPED or problem.reason in _BEYOND
    return NOT_SHOWN if is_whole else DAMAGED


class Named(NamedTuple):
    """A file and the ending of its name after the common part, such as `.jpg` or `.jpg.xmp`."""

    file: ReceivedFile
    ending: str


def grouped(
    files: Sequence[ReceivedFile], contents: Mapping[Path, Content]
) -> tuple[list[list[Named]], list[ReceivedFile]]:
    """Return groups of files that belong together, the one whose time counts first, and sidecars without a picture.

    Several files of one name and format, such as the `image.jpg` of some apps, come from different folders: each is a
    group of its own, so that it keeps its time and none waits for the others, and sidecars of that name are left.
    """
    folders: dict[str, list[ReceivedFile]] = {}
    for file in files:
        folders.setdefault(file.folder, []).append(file)
    groups: list[list[Named]] = []
    left: list[ReceivedFile] = []
    for inner in folders.values():
        pictures = [file for file in inner if contents[file.path].media_type != "sidecar"]
        sidecars = [file for file in inner if contents[file.path].media_type == "sidecar"]
        by_stem = _by_stem(pictures, contents)
        apart = {stem: group for stem, group in by_stem.items() if len({one.ending for one in group}) < len(group)}
        together = {stem: group for stem, group in by_stem.items() if stem not in apart}
        left += _add_sidecars(together, sidecars, {file.name for file in pictures})
        groups += together.values()
        groups += ([one] for group in apart.values() for one in group)
    return groups, left


def _by_stem(pictures: Iterable[ReceivedFile], contents: Mapping[Path, Content]) -> dict[str, list[Named]]:
    found: dict[str, list[ReceivedFile]] = {}
    for file in pictures:
        found.setdefault(group_key(file.name), []).append(file)
    groups = {}
    for stem, group in found.items():
        group.sort(key=lambda file: (is_edited(file.name), _ORDER[contents[file.path].media_type], file.name))
        suffixes = {file.path: suffix_of(file.name) for file in group}
        needed = len(set(suffixes.values())) > 1
        groups[stem] = [
            Named(file, f"{suffixes[file.path] if needed else ''}.{contents[file.path].extension}") for file in group
        ]
    return groups


def _add_sidecars(
    groups: Mapping[str, list[Named]], sidecars: Sequence[ReceivedFile], pictures: AbstractSet[str]
) -> Iterator[ReceivedFile]:
    """Add the sidecars of a folder to the groups of its pictures; yield those that belong to no picture."""
    owners = companions({*pictures, *(file.name for file in sidecars)})
    for file in sidecars:
        own = [name for name in owners.get(file.name, ()) if name in pictures]
        owner = owner_of(own) if own else ""
        group = groups.get(group_key(owner))
        if group is None or not is_read(file.name):
            yield file
            continue
        first = next(one.ending for one in group if one.file.name == owner)
        suffix = PurePosixPath(file.name).suffix.lower()
        group.append(Named(file, suffix if suffix == ".aae" else first + suffix))


def common_names(main: ReceivedFile, when: Taken, lengths: Sequence[int] = _DIGITS) -> Iterator[str]:
    """Yield the beginnings that a group's names may have, relative to the originals; the first free one is used.

    A name has no day and no month that are not known: the index would read them.
    """
    local = when.local
    folder, stamp = f"{local.year:04}/{local.month:02}", f"{local.year:04}{local:%m%d_%H%M%S}_"
    if 0 < when.parts < DAY:
        folder, stamp = folder[: 7 if when.parts == MONTH else 4], ""
    for digits in lengths:
        yield f"{folder}/{stamp}{main.hash[:digits].upper()}"


def _is_sidecar(content: Content | Problem) -> bool:
    return isinstance(content, Content) and content.media_type == "sidecar"


@dataclass(frozen=True, slots=True)
class Admitted:
    """The result of admitting a received file."""

    file: ReceivedFile
    status: str
    """`added`, `damaged`, `not_shown`, `duplicate` or `refused`."""
    placed: str = ""
    """The name among the originals, also that of the file that a duplicate repeats."""
    problem: Problem | None = None
    """The reason why it was refused, or cannot be shown."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The admission of received files to the originals.

    Args:
        user_id: the account in whose quota they count; None for those of an import.
        albums: UIDs of albums that their photos are added to once they are indexed.
        folder_albums: the UIDs of further albums by the folders whose photos are added to them.
        pool: reads the files; by default each call of `admit` starts one.
        checks_quota: true if the files are not counted already, as waiting uploads are: they may not exceed the quota.
        tells_nothing: true if the sender must not learn or change what the library has: each content that it sends is
            stored, whatever the library has, as a photo of its own, and sidecars are refused. Only what the same sender
            has sent before is a duplicate, and told as new.
        link_uid: the public link by which a visitor sent them; empty for files of accounts.
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
    tells_nothing: bool = False
    link_uid: str = ""
    require: Callable[[Session], object] | None = None
    folder_albums: Mapping[str, str] = field(default_factory=dict)
    _originals: KnownOriginals = field(init=False)
    _subjects: dict[tuple[str, ...], str] = field(default_factory=dict, init=False)
    """The last result of `wish_albums` by albums; if its transaction was undone, no job has this subject."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_originals", KnownOriginals(self.settings, self._claims, self.tells_nothing))

    def admit(self, files: Sequence[ReceivedFile]) -> list[Admitted]:
        """Add these files; files that belong together are in one transaction.

        Raises:
            QuotaExceededError: the account may not add so much.
            AccountDeletedError: there is no such account any more.
            PhotosvcError: one cannot be stored; files before it are added, and the others wait.
        """
        # The answer to a visitor does not wait for the index, so this tells whether a picture is damaged.
        found = dict(inspect(files, self.settings, self.pool, decode=self.tells_nothing))
        if self.tells_nothing:
            found.update({path: _NO_PICTURE for path, content in found.items() if _is_sidecar(content)})
        outcomes = [self._refused(file, problem) for file in files if isinstance(problem := found[file.path], Problem)]
        contents = {path: content for path, content in found.items() if isinstance(content, Content)}
        groups, left = grouped([file for file in files if file.path in contents], contents)
        if self.tells_nothing:  # many files of one name would be one long transaction, for which all others wait
            groups = [[one] for group in groups for one in group]
        outcomes += [Admitted(file, REFUSED, problem=Problem(Reason.UNRELATED)) for file in left]
        exclusions = Exclusions(self.settings.originals)
        for whole in groups:
            when = taken_by([(one.file, contents[one.file.path]) for one in whole], self.now, self.settings.timezone)
            common = next(iter(common_names(whole[0].file, when)))
            group = [one for one in whole if not exclusions.exclude(common + one.ending)]
            excluded = [one.file for one in whole if one not in group]
            outcomes += [Admitted(file, REFUSED, problem=Problem(Reason.EXCLUDED)) for file in excluded]
            if not group:
                continue
            with originals.undo_on_error() as undo:
                admitted = partial(self._admit_group, group, when, undo)
                done = self._originals.settle(self.writing, admitted)
                outcomes += (self._judged(outcome, contents[outcome.file.path]) for outcome in done)
        order = {file.path: number for number, file in enumerate(files)}
        return sorted(outcomes, key=lambda outcome: order[outcome.file.path])

    def albums_in(self, folder: str) -> tuple[str, ...]:
        """Return the UIDs of the albums for the photos of a folder."""
        own = self.folder_albums.get(folder)
        return tuple(dict.fromkeys((*self.albums, *((own,) if own else ()))))

    def find(self, transaction: Transaction, file: ReceivedFile) -> str | None:
        """Return the name of the original with this content; its photo is added to the albums, in the transaction.

        Raises:
            StorageFailedError: the disk of the originals is away or fails.
        """

        def look(session: Session) -> str | None:
            if name := self._originals.name_of(session, file):
                self._wish_albums(session, {file.hash: name}, file.folder)
            return name or None

        return self._originals.settle(transaction, look)

    def is_same(self, file: ReceivedFile, name: str) -> bool:
        """Return whether the original of this name has the content of the file, by reading it."""
        return self._originals.has_content(name, file)

    @property
    def _claims(self) -> Sequence[ColumnElement[bool]]:
        """Return the conditions on the claims of content that count for these files."""
        if not self.tells_nothing:
            return (not_(UploadedFile.apart),)
        return (
            UploadedFile.apart.is_(True),
            UploadedFile.user_id == self.user_id,
            UploadedFile.link_uid == self.link_uid,
        )

    def _claim_of(self, file: ReceivedFile) -> Sequence[ColumnElement[bool]]:
        return (UploadedFile.hash == file.hash, *self._claims)

    def _judged(self, outcome: Admitted, content: Content) -> Admitted:
        """Return the outcome of a stored file, for a visitor with the problem of its picture."""
        problem = content.extraction.problem if self.tells_nothing and content.extraction else None
        status = stored_status(problem)
        return outcome if status == ADDED else replace(outcome, status=status, problem=problem)

    @property
    def _again(self) -> str:
        """Return the status of duplicates, as the account is told of it."""
        return ADDED if self.tells_nothing else DUPLICATE

    def _refused(self, file: ReceivedFile, problem: Problem) -> Admitted:
        if problem.reason is Reason.VANISHED:
            known = self._originals.settle(self.writing, partial(self._known_to, file))
            if known:
                return Admitted(file, self._again, known)
        return Admitted(file, REFUSED, problem=problem)

    def _known_to(self, file: ReceivedFile, session: Session) -> str:
        check_disk(session, self.settings)
        return self._originals.name_of(session, file)

    def _check_group(self, group: Sequence[Named], session: Session) -> None:
        """Check that a group may be added, before anything of it is placed."""
        for one in group:  # it may read originals outside of the transaction
            self._known_to(one.file, session)
        if self.user_id is not None:
            require_account(session, self.user_id)
        if self.require is not None:
            self.require(session)
        self._check_quota(session, group)

    def _admit_group(self, group: Sequence[Named], when: Taken, undo: ExitStack, session: Session) -> list[Admitted]:
        self._check_group(group, session)
        outcomes = []
        for one in group:
            known = self._known(session, one.file)
            if known is not None:
                outcomes.append(Admitted(one.file, self._again, known))
                continue
            name = self._placed(group[0].file, when, one, undo, session)
            named = update(UploadedFile).where(*self._claim_of(one.file)).values(name=name)
            session.execute(named, execution_options=UNLOADED)
            # A person may have removed the same file from the library before.
            rejected = delete(RejectedFile).where(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.name == name)
            session.execute(rejected, execution_options=UNLOADED)
            wish(session, self.now, name.rpartition("/")[0])
            outcomes.append(Admitted(one.file, ADDED, name))
        self._wish_albums(session, {outcome.file.hash: outcome.placed for outcome in outcomes}, group[0].file.folder)
        return outcomes

    def _check_quota(self, session: Session, group: Sequence[Named]) -> None:
        if not self.checks_quota or self.user_id is None or not self.settings.upload_quota:
            return
        lock_account(session, self.user_id)
        new = {one.file.hash: one.file.size for one in group if not self._originals.name_of(session, one.file)}
        left = bytes_left(session, self.settings, self.user_id)
        if left is not None and sum(new.values()) > left:
            raise QuotaExceededError

    def _known(self, session: Session, file: ReceivedFile) -> str | None:
        """Return the name of the original with this content; None when there is none and this file claims to be it."""
        if not self._originals.name_of(session, file):
            if self._claim(session, file):
                return None
            # Another transaction had claimed it; where its file is gone by now, this one takes its place.
            if not self._originals.name_of(session, file):
                again = update(UploadedFile).where(*self._claim_of(file)).values(self._row(file))
                session.execute(again, execution_options=UNLOADED)
                return None
        return self._originals.name_of(session, file)

    def _claim(self, session: Session, file: ReceivedFile) -> bool:
        """Note a content as that of this file; return False if it is noted for another one."""
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
            "apart": self.tells_nothing,
            "created_at": self.now,
        }

    def _wish_albums(self, session: Session, files: Mapping[str, str], folder: str) -> None:
        """Ask for the albums of pictures, duplicates included; sidecars, by their names, belong to other files."""
        pictures = [content for content, name in files.items() if not is_read(name)]
        albums = self.albums_in(folder)
        if albums and pictures:
            sender = self.link_uid if self.tells_nothing else None
            subject = self._subjects.get(albums, "")
            self._subjects[albums] = wish_albums(
                session, subject, pictures, albums, self.now, self.user_id, contributed_by=sender
            )

    def _placed(self, main: ReceivedFile, when: Taken, one: Named, undo: ExitStack, session: Session) -> str:
        """Place a file of a group and return its name. `undo` brings it back to where it waited for another try."""
        lengths = _DIGITS_OF_STRANGERS if self.tells_nothing else _DIGITS
        commons = [*common_names(main, when, lengths), *common_names(one.file, when, lengths)]
        commons.append(f"{commons[0]}_{secrets.token_hex(4)}")
        for common in commons:
            name = common + one.ending
            try:
                self.place(one.file, name, undo)
            except NameTakenError:
                # It is the same where a process ended after placing it, unless it is that of another sender.
                if _is_known(session, name) or not self.is_same(one.file, name):
                    continue
            return name
        raise NameTakenError


def _is_known(session: Session, name: str) -> bool:
    """Return whether an original of this name is indexed, or about to be."""
    indexed = select(File.id).where(File.root == ORIGINALS_ROOT, File.name == name, not_(File.missing))
    claimed = select(UploadedFile.id).where(UploadedFile.name == name)
    return session.scalar(indexed) is not None or session.scalar(claimed.limit(1)) is not None
