"""The marks of an import: favorite and hidden people, their birth dates, and favorite labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.exchange.import_runs import RunOfImport
from photosvc.exchange.imported import ImportedLabel, ImportedPerson, Outcome
from photosvc.library.labels import mark_favorite
from photosvc.library.people import mark_person, spellings
from photosvc.models import Imported, ImportRun, Keyword, Subject, SubjectName
from photosvc.models.engine import write_session
from photosvc.models.library import subject_uid
from photosvc.query.fold import fold
from photosvc.search.reading.people import Person

_UNMARKED: Final[Mapping[str, Any]] = {"favorite": False, "hidden": False, "birth_date": None}


@dataclass(slots=True)
class Names:
    """The people and labels of photos that a run has seen, without case and accents: a dry run stores none."""

    people: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)


class NameImport:
    """The people and labels of one run."""

    def __init__(
        self, engine: Engine, clock: Clock, run: RunOfImport, seen: Names, prefer: str, *, dry_run: bool
    ) -> None:
        """Prepare the marks."""
        self._engine = engine
        self._clock = clock
        self._run = run
        self._seen = seen
        self._prefer = prefer
        self._dry_run = dry_run

    def take_person(self, record: ImportedPerson) -> None:
        """Mark a person as the other program does; marks of people here are never taken away."""
        report = self._run.report
        for name in record.homeless:
            report.count(name, Outcome.NO_HOME)
        wanted = {name: value for name in _UNMARKED if (value := getattr(record, name))}
        with Session(self._engine) as session:
            person, present = _person(session, record.name)
            earlier = self._earlier(session, record.key)
        is_here = bool(person.names) or fold(person.name) in self._seen.people
        taken = {}
        for name, value in wanted.items():
            outcome = self._outcome(present[name], value, name in earlier) if is_here else Outcome.NO_MATCH
            report.count(f"person {name.replace('_', ' ')}", outcome)
            if outcome is Outcome.TAKEN:
                taken[name] = value
        if wanted and not is_here:
            report.list_unmatched(f"person {record.name}: no photo here shows them")
        if taken and not self._dry_run:
            with write_session(self._engine, library=True) as session:
                person, present = _person(session, record.name)
                now = self._clock()
                mark_person(session, person, now, **taken)
                marks = [f"{name} {value} {present[name] or ''}" for name, value in taken.items()]
                self._note(session, record.key, person.uid, marks)

    def take_label(self, record: ImportedLabel) -> None:
        """Make a label a favorite."""
        folded = fold(record.name)
        with Session(self._engine) as session:
            label = session.scalars(select(Keyword).where(Keyword.folded == folded)).first()
            earlier = self._earlier(session, record.key)
        if label is None and folded not in self._seen.labels:
            self._run.report.list_unmatched(f"label {record.name}: no photo here has it")
            outcome = Outcome.NO_MATCH
        else:
            outcome = self._outcome(label is not None and label.favorite, True, "favorite" in earlier)
        self._run.report.count("label favorite", outcome)
        if outcome is Outcome.TAKEN and label is not None and not self._dry_run:
            with write_session(self._engine, library=True) as session:
                mark_favorite(session, label.id, favorite=True)
                self._note(session, record.key, label.uid, ["favorite True "])

    def _outcome(self, present: object, value: object, was_taken: bool) -> Outcome:
        """Return what happens to a mark; one that an earlier run set and that is gone was taken away by a person."""
        if present == value:
            return Outcome.EQUAL
        if self._prefer != "theirs" and (was_taken or present):
            return Outcome.KEPT
        return Outcome.TAKEN

    def _earlier(self, session: Session, key: str) -> set[str]:
        """Return the marks that earlier runs set."""
        query = select(Imported.members).join(ImportRun).where(ImportRun.source == self._run.source)
        rows = session.scalars(query.where(Imported.key == key))
        return {member.partition(" ")[0] for members in rows for member in members}

    def _note(self, session: Session, key: str, uid: str, marks: list[str]) -> None:
        """Store marks with their former values, for undoing, in the transaction that changes them."""
        number = self._run.number(session, self._clock())
        session.add(Imported(run_id=number, key=key, uid=uid, members=marks))


def _person(session: Session, name: str) -> tuple[Person, Mapping[str, Any]]:
    """Return the person whom files call so, with all spellings on photos, and their marks."""
    folded = fold(name)
    owner = select(SubjectName.subject_id).where(SubjectName.folded == folded).scalar_subquery()
    subject = session.scalars(select(Subject).where(Subject.id == owner)).first()
    subject = subject or session.scalars(select(Subject).where(Subject.folded == folded)).first()
    present = {one: getattr(subject, one) for one in _UNMARKED} if subject else _UNMARKED
    uid, shown = (subject.uid, subject.name) if subject else (subject_uid(folded), name)
    return Person(uid, shown, 0, names=spellings(session.connection(), {fold(shown)})), present
