"""Query text to nodes."""

from collections.abc import Iterable
from dataclasses import replace

from photosvc.query.errors import InvalidQueryError
from photosvc.query.filters import NAMES, find_filter
from photosvc.query.lexer import Kind, Token, check, tokens
from photosvc.query.nodes import (
    Everything,
    Node,
    Source,
    conjunction,
    conjuncts,
    disjunction,
    negation,
    terms,
)
from photosvc.query.terms import read_term
from photosvc.query.values import read_filter

DEEPEST_NESTING = 64
MOST_TERMS = 256

#: Words that are operators between two terms, as in PhotoPrism.
OPERATOR_WORDS = {"or": Kind.EITHER, "and": Kind.BOTH}

_TERM_ENDS = {Kind.CLOSE, Kind.PHRASE, Kind.FILTER, Kind.WORD}
_TERM_STARTS = {Kind.OPEN, Kind.NEGATE, Kind.PHRASE, Kind.FILTER, Kind.WORD}


def parse_query(text: str, field: str = "q") -> Node:
    r"""The query that `text` means; blank text means everything.

        query   = either
        either  = both { ( "|" | "or" ) both }
        both    = [ term { [ "&" | "and" ] term } ]
        term    = { "-" | "!" } ( "(" either ")" | phrase | filter | word )
        phrase  = '"' text '"'
        filter  = key ":" value                 a name of `FILTERS`; the value as in `alternatives`
        word    = characters other than blanks and ( ) | & "

    - `and` binds tighter than `or`. The two words are operators in any case of letters, but only between terms;
      quoted, or at the ends of a query or group, they are words.
    - A sign belongs to what follows it at once; with blanks around it, it is punctuation.
    - Operators without operand, empty groups and words without letters or digits say nothing.
    - A word of three characters or more also means the words that start with it; `ab*` asks for that, `"abc"`
      forbids it. Words held together by punctuation, such as `IMG_1234`, are a phrase.
    - `12:30` and `http://…` are words, and so is `note:` with nothing behind it, unless it names a filter: a filter
      without value is not set.

    Args:
        text: what a person typed, at most 4096 characters, 64 nested groups and 256 terms (words, and
            alternatives of filters).
        field: the request parameter that errors name.

    Raises:
        InvalidQueryError: the text is not a query; says where and why.

    """
    check(text, field)
    return _Parser(text, field).query()


class _Parser:
    """A recursive descent over the tokens, one function for each rule."""

    def __init__(self, text: str, field: str) -> None:
        self.field = field
        self.tokens = _with_operator_words(list(tokens(text)))
        self.next = 0
        self.terms = 0

    def query(self) -> Node:
        node = self.either(depth=0)
        if (token := self.peek()) is not None:
            raise self.error("this ) closes no group", token)
        return node

    def either(self, depth: int) -> Node:
        parts = [self.both(depth)]
        while self.take(Kind.EITHER):
            parts.append(self.both(depth))
        return disjunction(parts)

    def both(self, depth: int) -> Node:
        parts: list[Node] = []
        while (token := self.peek()) is not None and token.kind not in {Kind.EITHER, Kind.CLOSE}:
            if not self.take(Kind.BOTH):
                parts.append(self.term(depth))
        return conjunction(parts)

    def term(self, depth: int) -> Node:
        negated = False
        while self.take(Kind.NEGATE):
            negated = not negated
        token = self.tokens[self.next]  # a sign is a token only if something follows it
        self.next += 1
        match token.kind:
            case Kind.OPEN:
                node = self.group(token, depth + 1)
            case Kind.FILTER:
                node = self.filter(token)
            case Kind.PHRASE | Kind.WORD:
                node = self.text(token)
            case _:
                raise self.error("this quote is not closed", token)
        return negation(node) if negated else node

    def group(self, opening: Token, depth: int) -> Node:
        if depth > DEEPEST_NESTING:
            raise self.error(f"more than {DEEPEST_NESTING} groups inside each other", opening)
        node = self.either(depth)
        if not self.take(Kind.CLOSE):
            raise self.error("this ( is not closed", opening)
        return node

    def filter(self, token: Token) -> Node:
        raw = token.text[len(token.key) + 1 :]
        if not raw and token.key.lower() not in NAMES:
            return self.text(token)
        spec = find_filter(token.key, field=self.field, position=token.start)
        following = self.peek()
        if raw and following and following.kind is Kind.OPEN and following.start == token.end:
            raise self.error(f"{spec.name}: a value with parentheses needs quotes", following)
        node = read_filter(spec, raw, Source(self.field, token.end - len(raw), token.end))
        self.count(conjuncts(node), token)
        return node

    def text(self, token: Token) -> Node:
        quoted = token.kind is Kind.PHRASE
        try:
            found = read_term(token.text[1:-1] if quoted else token.text, quoted=quoted)
        except ValueError as error:
            raise self.error(str(error), token) from error
        node = found or Everything()
        self.count((node,), token)
        return node

    def count(self, parts: Iterable[Node], token: Token) -> None:
        self.terms += sum(map(terms, parts))
        if self.terms > MOST_TERMS:
            raise self.error(f"more than {MOST_TERMS} terms", token)

    def peek(self) -> Token | None:
        return self.tokens[self.next] if self.next < len(self.tokens) else None

    def take(self, kind: Kind) -> bool:
        token = self.peek()
        taken = token is not None and token.kind is kind
        self.next += taken
        return taken

    def error(self, message: str, token: Token) -> InvalidQueryError:
        return InvalidQueryError(message, field=self.field, position=token.start)


def _with_operator_words(found: list[Token]) -> list[Token]:
    """The tokens, where `and` and `or` between two terms are operators."""
    for at in range(1, len(found) - 1):
        between = found[at - 1].kind in _TERM_ENDS and found[at + 1].kind in _TERM_STARTS
        kind = OPERATOR_WORDS.get(found[at].text.lower()) if between else None
        if kind and found[at].kind is Kind.WORD:
            found[at] = replace(found[at], kind=kind)
    return found
