r"""The lexer of queries, and the syntax of filter values: alternatives, groups, wildcards, negation and quotes.

Each character of a query belongs to one token, up to a quote that is not closed. The value of a filter:

    value       = group { "&" group }                  all groups must match
    group       = alternative { "|" alternative }      any may match, but none of those with a sign
    alternative = [ "!" | "-" ] text
    text        = { character | "*" | quoted | "\" one of \ " | & * ! - }

Quotes protect parentheses, colons and blanks, also blanks at the ends of the quoted text. All operators remain
operators inside quotes, as in the queries that PhotoPrism's own clients write (`people:"Jane Doe & John Doe"`), unless
a backslash precedes them: `|`, `&` and `*`, and a sign that begins an alternative. An operator that the filter's row
does not list is an ordinary character.

The rule for words decides whether a piece of text is a word or a phrase, in values and in free text.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from photosvc.core.message import Message
from photosvc.data.place_names import names_in_text
from photosvc.query.fold import LONGEST_WORD, other_forms, umlaut_forms, words
from photosvc.query.nodes import InvalidQueryError, Phrase, Word

LONGEST_QUERY = 4096
#: Beginnings of the Unicode names of digits, and of letters in scripts whose words have many letters.
_MANY_LETTERS = ("LATIN", "GREEK", "CYRILLIC", "DIGIT", "MODIFIER")
#: Articles and pronouns that lose their vowel in front of another word, as in `l'été` and `d'anniversaire`.
ELIDED = re.compile(r"^(?:[cdjlmnst]|qu|all|dell|nell|sull|un)['\u2019\u02bc](?=\w\w)", re.IGNORECASE)
#: Names of models as people write them, without blanks: `iphone11`, `a7iii`.
_MODEL = re.compile(r"([a-z]{1,12})(\d{1,4})([a-z]{0,4})", re.ASCII)
_SHORTEST_MODEL = 4
#: Sony cameras, which call themselves ILCE-7M3.
_SONY = re.compile(r"a(\d{1,4})([rsc]?)(ii|iii|iv|v)?", re.ASCII)
_ROMAN = {"ii": "m2", "iii": "m3", "iv": "m4", "v": "m5"}
_PLAIN = re.compile(r"[^\W_][\w./-]*\Z")
_SPECIAL = re.compile(r'[\\"|&*]')
_PIECE = re.compile(r'\\(?P<escaped>[\\"|&*!-])|(?P<quote>")|(?P<operator>[|&*])|[^\\"|&*]+|\\')


class TokenKind(StrEnum):
    """The kind of a token."""

    OPEN = "open"
    CLOSE = "close"
    EITHER = "either"
    BOTH = "both"
    NEGATE = "negate"
    FILTER = "filter"
    PHRASE = "phrase"
    WORD = "word"
    STRAY = "stray"


class Token(NamedTuple):
    """A piece of the query and its position; for a filter also its key, as written and without the colon.

    A named tuple, because one query may have thousands of tokens.
    """

    kind: TokenKind
    text: str
    start: int
    end: int
    key: str = ""


#: `read_alternatives` reads the quotes and backslashes inside a value. A key starts with a letter, so that 12:30 is a
#: word; a colon before two slashes makes an address, which is a word too. A sign with nothing after it is punctuation.
#: Possessive repeats keep the scan linear.
_TOKEN = re.compile(
    r"""
      (?P<blank>\s++)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<either>\|++)
    | (?P<both>&++)
    | (?P<filter>(?P<key>[^\W\d_][\w-]*+):(?!//)(?:"(?:[^"\\]|\\.)*+"|\\[\\"|&*]|[^\s()"])*+)
    | (?P<phrase>"(?:[^"\\]|\\.)*+")
    | (?P<negate>[-!]++(?=[^\s)|&]))
    | (?P<word>[^\s()|&"]++)
    | (?P<stray>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

_KINDS = {kind.value: kind for kind in TokenKind}


def check_text(text: str, field: str) -> None:
    """Refuse text that is too long, or contains characters that no database can store.

    Raises:
        InvalidQueryError: the text is refused.
    """
    if len(text) > LONGEST_QUERY:
        length, most = len(text), LONGEST_QUERY
        msg = Message("{field} has {length} characters; {most} are allowed", field=field, length=length, most=most)
        raise InvalidQueryError(msg, field=field)
    if character := _UNPRINTABLE.search(text):
        raise InvalidQueryError(f"{field} holds a control character", field=field, position=character.start())


def open_quote(text: str) -> Token | None:
    """Return the quote of the text that nothing closes; None without one."""
    if '"' not in text:
        return None
    return next((token for token in tokens(text) if token.kind is TokenKind.STRAY), None)


def close_quote(text: str) -> str:
    """Return the text with its last quote closed."""
    if open_quote(text) is None:
        return text
    slashes = len(text) - len(text.rstrip("\\"))
    return text + "\\" * (slashes % 2) + '"'


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of `text` from left to right, without blanks, up to an unclosed quote.

    Reading stops there, because each further quote would cause another search through the rest of the text.
    """
    for match in _TOKEN.finditer(text):
        kind = _KINDS.get(match.lastgroup or "")
        if kind is not None:
            start, end = match.span()
            yield Token(kind, text[start:end], start, end, match["key"] or "")
            if kind is TokenKind.STRAY:
                return


def quote(text: str, *, always: bool = False) -> str:
    """Return the text as a value of a filter, in quotes if it needs them, or always."""
    if _PLAIN.match(text) and not always:
        return text
    begun = text.lstrip()
    blanks, sign = text[: len(text) - len(begun)], "\\" * begun.startswith(("!", "-"))
    return f'"{blanks}{sign}' + _SPECIAL.sub(r"\\\g<0>", begun) + '"'


def read_term(text: str, *, quoted: bool, whole: bool = False) -> Word | Phrase | None:
    """Return the condition for a piece of text; None if it contains no letter, digit or emoji.

    Text of several words, quoted or joined by punctuation (`IMG_1234`), is a phrase. The last word may be the start of
    a longer one if a `*` follows it, or if it is long enough and the text is not quoted. A single word that is neither
    quoted nor followed by a `*` also stands for its plural or singular, and for itself with other letters in place of
    umlauts: `muenchen` and `münchen`. A `*` in front of words is ignored, and unless the text is quoted, an elided
    article: `l'été` is `été`.

    Args:
        quoted: true if the text stood in quotes.
        whole: true if a word without a `*` is never the start of a longer one.

    Raises:
        ValueError: a `*` stands between the characters of an unquoted word.
    """
    if text.isascii() and text.isalnum():  # most words: they need neither folding nor splitting
        return _word(text[:LONGEST_WORD].lower(), starred=False, quoted=quoted, whole=whole)
    body = text.rstrip("*")
    if not quoted:
        body = ELIDED.sub("", body, 1)
    if "*" in body.lstrip("*") and not quoted:
        raise ValueError("in free text * may only end a word")
    folded = words(body)
    if not folded:
        return None
    starred = text.endswith("*") and not body[-1].isspace()
    if len(folded) == 1:
        word = _word(folded[0], starred=starred, quoted=quoted, whole=whole)
        further = () if starred or quoted or body.isascii() else umlaut_forms(body)
        return replace(word, forms=(*word.forms, *further)) if further else word
    may_go_on = not (quoted or whole) and len(folded[-1]) >= shortest_prefix(folded[-1])
    return Phrase(folded, starred or may_go_on)


def _word(word: str, *, starred: bool, quoted: bool, whole: bool) -> Word:
    if starred or quoted:
        return Word(word, starred)
    prefix = not whole and len(word) >= shortest_prefix(word)
    return Word(word, prefix, other_forms(word, prefix=prefix) + umlaut_forms(word))


def read_models(text: str) -> list[Phrase]:
    """Return the names of models that a word without blanks may mean: `iphone11` is `iPhone 11`."""
    word = text.lower()
    model = _MODEL.fullmatch(word) if len(word) >= _SHORTEST_MODEL else None
    if model is None:
        return []
    name, number, version = model.groups()
    phrases = [Phrase((name, number + version))]
    if version:
        phrases += [Phrase((name + number, version)), Phrase((name, number, version))]
    if sony := _SONY.fullmatch(word):
        phrases.append(Phrase(("ilce", f"{sony[1]}{sony[2]}{_ROMAN.get(sony[3], '')}")))
    return phrases


def read_place(name: str) -> list[Word | Phrase]:
    """Return the conditions for the names in the gazetteer of the places that a folded name means in free text."""
    return [term for own in names_in_text(name) if (term := read_term(own, quoted=True))]


def shortest_prefix(word: str) -> int:
    """Return the least number of characters of an unquoted word that also stands for words that start with it.

    Words of two letters are frequent in Latin, Greek and Cyrillic script; in other scripts, such as Hangul, they are
    more selective.
    """
    return 3 if unicodedata.name(word[0], "LATIN").startswith(_MANY_LETTERS) else 2


class Alternative(NamedTuple):
    """An alternative: its text between wildcards, and its position in the value.

    A named tuple, because one query may have hundreds of alternatives.
    """

    pieces: tuple[str, ...]
    negated: bool
    quoted: bool
    start: int
    end: int

    @property
    def text(self) -> str:
        """Return the text with its wildcards."""
        return "*".join(self.pieces)


@dataclass(slots=True)
class _Draft:
    """An alternative that is being read."""

    start: int
    quoted: bool = False
    negated: bool = False
    pieces: list[str] = field(default_factory=lambda: [""])
    after_operator: bool = False
    """True if an operator inside quotes precedes it; blanks beside such an operator are ignored."""
    protected: int = 0
    """The number of characters of the last piece up to the end of its quoted text."""
    empties: bool = False
    """True if `""` is an alternative."""

    @property
    def untouched(self) -> bool:
        return not self.quoted and self.pieces == [""]

    def begin(self, text: str, operators: str, *, inside: bool) -> str:
        """Return the first text without a sign and the blanks before it; remember the sign."""
        first = text.lstrip()
        if first.startswith(("!", "-")) and first[0] in operators and not self.negated:
            self.negated = True
            return first[1:].lstrip()
        return text if inside and not self.after_operator else first

    def add(self, text: str, *, inside: bool) -> None:
        """Append text, which may come from inside quotes."""
        self.pieces[-1] += text
        if inside:
            self.protected = len(self.pieces[-1])

    def add_wildcard(self) -> None:
        """Append a wildcard."""
        self.pieces.append("")
        self.protected = 0

    def finish(self, end: int, *, inside: bool = False) -> list[Alternative]:
        """Return the alternative as a list, which is empty without text; `inside` is true if it ends inside quotes."""
        last = self.pieces[-1]
        protected = 0 if inside else self.protected
        self.pieces[-1] = last[:protected] + last[protected:].rstrip()
        if len(self.pieces) == 1 and not self.pieces[0].strip():
            empty = self.empties and self.quoted and not (self.after_operator or self.pieces[0])
            return [Alternative(("",), self.negated, True, self.start, end)] if empty else []
        return [Alternative(tuple(self.pieces), self.negated, self.quoted, self.start, end)]


def read_alternatives(raw: str, operators: str, *, empties: bool = False) -> list[list[Alternative]]:
    """Return the groups of alternatives in `raw`, in which the characters of `operators` are operators.

    Empty alternatives and groups are left out: `a||b` is `a|b`. With `empties`, `""` is an alternative. A quote that is
    not closed ends with the value.
    """
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
            if draft.pieces == [""] and not match["escaped"]:
                text = draft.begin(text, operators, inside=inside)
            draft.add(text, inside=inside)
    groups[-1] += draft.finish(len(raw), inside=inside)
    return [group for group in groups if group]
