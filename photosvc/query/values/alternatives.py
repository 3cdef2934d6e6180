r"""The syntax inside a filter value: alternatives, groups, wildcards, negation, quotes.

    value       = group { "&" group }                  all groups must match
    group       = alternative { "|" alternative }      any may match, but none of those with a sign
    alternative = [ "!" | "-" ] text                   the sign outside of quotes
    text        = { character | "*" | quoted | "\" one of \ " | & * }

Quotes protect blanks, those at its ends too, parentheses, colons and signs. `|`, `&` and `*` remain operators inside of
quotes, as in the queries that PhotoPrism's own clients write (`people:"Jane Doe & John Doe"`), unless a backslash
precedes them. An operator that the filter's row does not list is an ordinary character.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

_PIECE = re.compile(r'\\(?P<escaped>[\\"|&*])|(?P<quote>")|(?P<operator>[|&*])|[^\\"|&*]+|\\')


class Alternative(NamedTuple):
    """One alternative: its text between wildcards, and its position in the value.

    A named tuple, because one query may have hundreds.
    """

    pieces: tuple[str, ...]
    negated: bool
    quoted: bool
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text with its wildcards."""
        return "*".join(self.pieces)


class UnclosedQuoteError(ValueError):
    """A quote is not closed."""


@dataclass(slots=True)
class _Draft:
    """An alternative that is being read."""

    start: int
    quoted: bool = False
    negated: bool = False
    pieces: list[str] = field(default_factory=lambda: [""])
    after_operator: bool = False
    """Whether an operator inside of quotes precedes it, around which blanks say nothing."""
    protected: int = 0
    """Characters of the last piece that ended inside of quotes."""
    empties: bool = False
    """Whether `""` is an alternative."""

    @property
    def untouched(self) -> bool:
        return not self.quoted and self.pieces == [""]

    def add(self, text: str, *, inside: bool) -> None:
        """Append text, from inside of quotes or not."""
        self.pieces[-1] += text
        if inside:
            self.protected = len(self.pieces[-1])

    def add_wildcard(self) -> None:
        """Append a wildcard."""
        self.pieces.append("")
        self.protected = 0

    def finish(self, end: int, *, inside: bool = False) -> list[Alternative]:
        """The alternative, or nothing when it is empty and not quoted; an operator inside of quotes may follow."""
        last = self.pieces[-1]
        kept = 0 if inside else self.protected
        self.pieces[-1] = last[:kept] + last[kept:].rstrip()
        if len(self.pieces) == 1 and not self.pieces[0].strip():
            empty = self.empties and self.quoted and not (self.after_operator or self.pieces[0])
            return [Alternative(("",), self.negated, True, self.start, end)] if empty else []
        return [Alternative(tuple(self.pieces), self.negated, self.quoted, self.start, end)]


def read_groups(raw: str, operators: str, *, empties: bool = False) -> list[list[Alternative]]:
    """The groups of alternatives in `raw`, where the characters in `operators` are operators.

    Empty alternatives and groups are left out: `a||b` is `a|b`. With `empties`, `""` is an alternative.

    Raises:
        UnclosedQuoteError: a quote is not closed.

    """
    if '"' not in raw and "\\" not in raw:
        return _read_unquoted(raw, operators)
    groups: list[list[Alternative]] = [[]]
    draft, inside = _Draft(0, empties=empties), False
    for match in _PIECE.finditer(raw):
        operator = match["operator"]
        if match["quote"]:
            draft.quoted = draft.quoted or draft.untouched
            inside = not inside
        elif operator == "*" and "*" in operators:
            draft.add_wildcard()
        elif operator and operator in operators:
            groups[-1] += draft.finish(match.start(), inside=inside)
            draft = _Draft(match.end(), quoted=inside, after_operator=inside, empties=empties)
            if operator == "&":
                groups.append([])
        else:
            text = match["escaped"] or match[0]
            if draft.untouched and not match["escaped"]:
                text = text.lstrip()
                if text.startswith(("!", "-")) and text[0] in operators:
                    draft.negated, text = True, text[1:].lstrip()
            elif draft.after_operator and draft.pieces == [""]:
                text = text.lstrip()
            draft.add(text, inside=inside)
    if inside:
        raise UnclosedQuoteError("a quote is not closed")
    groups[-1] += draft.finish(len(raw))
    return [group for group in groups if group]


def _read_unquoted(raw: str, operators: str) -> list[list[Alternative]]:
    """The same for a value without quotes and backslashes, which is split faster."""
    groups, start = [], 0
    for part in raw.split("&") if "&" in operators else (raw,):
        group = []
        for piece in part.split("|") if "|" in operators else (part,):
            text, end = piece.strip(), start + len(piece)
            negated = text.startswith(("!", "-")) and text[0] in operators
            if negated:
                text = text[1:].lstrip()
            if text:
                pieces = tuple(text.split("*")) if "*" in operators else (text,)
                group.append(Alternative(pieces, negated, False, start, end))
            start = end + 1
        if group:
            groups.append(group)
    return groups
