"""The parser of queries: from query text and GET parameters to nodes.

Some plain words, neither quoted nor with a `*` at the end, have a meaning of their own: `videos` is also the filter
`video:true`, and `the` is left out.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias

from photosvc.core.vocabulary import COLOR_NUMBERS
from photosvc.query.alternatives import read_term
from photosvc.query.areas import locate
from photosvc.query.errors import InvalidQueryError, shown
from photosvc.query.filters import FILTERS, NAMES, find_filter
from photosvc.query.lexer import Token, TokenKind, check, tokens
from photosvc.query.nodes import (
    Everything,
    Filter,
    Node,
    Not,
    Source,
    Word,
    conjunction,
    conjuncts,
    disjunction,
    levels,
    negation,
    terms,
)
from photosvc.query.reader import read_filter

#: Articles, prepositions and `and`: left out if the query has other words.
LITTLE_WORDS: Final = frozenset(("a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "the", "to", "with"))
#: Words that people write for a kind of photos, and the filter that finds these photos.
_MAGIC: Final = {
    "animated": "animated", "gif": "animated", "gifs": "animated",
    "audio": "audio", "sound": "audio", "sounds": "audio",
    "document": "document", "documents": "document",
    "faces": "faces", "people": "faces",
    "favorite": "favorite", "favorites": "favorite", "favourite": "favorite", "favourites": "favorite",
    "live": "live",
    "mono": "mono", "monochrome": "mono",
    "panorama": "panorama", "panoramas": "panorama",
    "photo": "photo", "photos": "photo", "picture": "photo", "pictures": "photo",
    "raw": "raw", "raws": "raw",
    "scan": "scan", "scans": "scan",
    "stack": "stack", "stacks": "stack",
    "vector": "vector", "vectors": "vector",
    "video": "video", "videos": "video",
}  # fmt: skip
MAGIC_WORDS: Final = {word: (name, "true") for word, name in _MAGIC.items()} | {
    color: ("color", color) for color in COLOR_NUMBERS
}
_APERTURE: Final = re.compile(r"f/(\d{1,2}(?:\.\d{1,2})?)", re.ASCII | re.IGNORECASE)
_YEARS: Final = re.compile(r"\d{4}\.\.\d{4}", re.ASCII)
#: A comparison without a colon, or without the name of a filter.
_COMPARISON: Final = re.compile(r"(?P<key>[^\W\d_][\w-]*+)?(?P<sign>[<>]=?|=)(?P<value>.*)", re.DOTALL)
DEEPEST_NESTING = 64
MOST_LEVELS = 20
"""Levels of `and` inside `or` inside `and` …: the parser of SQLite has room for about 28."""
MOST_TERMS = 256
MOST_TOKENS = 5 * MOST_TERMS
"""A term may have a sign, two parentheses and an operator."""
#: Words that are operators between two terms, as in PhotoPrism.
OPERATOR_WORDS = {"or": TokenKind.EITHER, "and": TokenKind.BOTH}
#: Only in capitals, because of phrases such as `to be or not to be`. Signs of an odd length negate: like `-`, this word
#: has one.
NEGATION_WORD = "NOT"
_TOO_DEEP = f"more than {MOST_LEVELS} changes between 'and' and 'or' inside each other"
#: The key for the order of a whole query; it is no filter.
ORDER = "order"
_BINDERS = {TokenKind.EITHER, TokenKind.NEGATE}
_BOTH_ENDS = {TokenKind.EITHER, TokenKind.CLOSE}
_TERM_ENDS = {TokenKind.CLOSE, TokenKind.PHRASE, TokenKind.FILTER, TokenKind.WORD}
_TERM_STARTS = {TokenKind.OPEN, TokenKind.NEGATE, TokenKind.PHRASE, TokenKind.FILTER, TokenKind.WORD}
Pairs: TypeAlias = Mapping[str, Sequence[str]] | Iterable[tuple[str, str]]


def also_means(text: str, word: str, source: Source) -> Node | None:
    """Return the filter that a plain word also means, or None.

    Args:
        text: the word as it was typed.
        word: the folded word: `Vidéos` and `videos:` mean the same filter as `videos`.
        source: the position of the word.

    """
    name, value = MAGIC_WORDS.get(word, ("", ""))
    if aperture := _APERTURE.fullmatch(text):
        name, value = "f", aperture[1]
    elif _YEARS.fullmatch(text):
        name, value = "year", text
    return read_filter(FILTERS[name], value, source) if name else None


def refuse_comparison(word: str, source: Source) -> None:
    """Refuse `iso>800` and `>800`, which are meant as filters and not as words to find.

    Raises:
        InvalidQueryError: the word is such a comparison; the message shows the right form.

    """
    found = _COMPARISON.fullmatch(word)
    if found is None:
        return
    key, sign, value = found["key"], found["sign"].removeprefix("="), found["value"]
    if key and key.lower() in NAMES:
        msg = f"{shown(word)} is neither a word nor a filter; did you mean {key.lower()}:{shown(sign + value)[1:-1]}?"
    elif not key and sign and value[:1].isdecimal():
        msg = f"{shown(word)} compares nothing; write the name of a filter before it, as in iso:>800"
    else:
        return
    raise InvalidQueryError(msg, field=source.field, position=source.start)


def parse_query(text: str, field: str = "q") -> Node:
    r"""Parse `text` as a query; blank text means everything.

        query   = either
        either  = both { ( "|" | "or" ) both }
        both    = [ term { [ "&" | "and" ] term } ]
        term    = { "-" | "!" | "NOT" } ( "(" either ")" | phrase | filter | word )
        phrase  = '"' text '"'
        filter  = key ":" value                 a name of `FILTERS`; the value as in `alternatives`
        word    = characters other than blanks and ( ) | & "

    - `and` binds tighter than `or`. The two words are operators in any case of letters, but only between terms;
      quoted, or at the ends of a query or group, they are words. `NOT` in capitals before a term is a sign.
    - A sign negates the term that follows it without a blank; with blanks around it, it is punctuation.
    - Operators without operand, empty groups and words without letters, digits and emoji are ignored; so are little
      words (`in of the`) beside other words.
    - A word of three characters or more, of two in scripts other than Latin, Greek and Cyrillic, also matches longer
      words that start with it; a shorter one does with a `*` (`ab*`), a quoted one (`"abc"`) never does. Words joined
      by punctuation, such as `IMG_1234`, are a phrase. A word also stands for its plural or singular, and some for a
      filter (see `MAGIC_WORDS`): either may match.
    - `12:30` and `http://…` are words, and so is `note:` with nothing after it, unless it names a filter: a filter
      without a value has no effect.

    Args:
        text: the text that a person typed: at most 4096 characters, 64 nested groups, 20 changes between `and` and
            `or` inside each other, and 256 terms (words, groups, and alternatives of filters; an alternative with
            wildcards counts as their number).
        field: the request parameter that errors name.

    Raises:
        InvalidQueryError: the text is not a query; the message says where and why.

    """
    check(text, field)
    return _Parser(text, field).query()


class _Parser:
    """A recursive descent parser, one function for each rule."""

    def __init__(self, text: str, field: str) -> None:
        self.field = field
        self.tokens = _with_operator_words(list(islice(tokens(text), MOST_TOKENS + 1)))
        self.next = 0
        self.terms = 0

    def query(self) -> Node:
        if len(self.tokens) > MOST_TOKENS:
            raise self.error("too many words and signs", self.tokens[-1])
        node = self.either(depth=0)
        if (token := self.peek()) is not None:
            raise self.error("this ) closes no group", token)
        if levels(node) > MOST_LEVELS:
            raise self.error(_TOO_DEEP, self.tokens[0])
        return node

    def either(self, depth: int) -> Node:
        parts = [self.both(depth)]
        while self.take(TokenKind.EITHER):
            parts.append(self.both(depth))
        return disjunction(parts)

    def both(self, depth: int) -> Node:
        parts: list[Node] = []
        little: list[int] = []
        while (token := self.peek()) is not None and token.kind not in _BOTH_ENDS:
            self.next += 1
            if token.kind is TokenKind.WORD and token.text.lower() in LITTLE_WORDS:
                little.append(len(parts))
            if token.kind is not TokenKind.BOTH:
                parts.append(self.term(token, depth))
        others = [part for at, part in enumerate(parts) if at not in little]
        return conjunction(parts if all(isinstance(part, Filter | Not | Everything) for part in others) else others)

    def term(self, token: Token, depth: int) -> Node:
        negated = False
        while token.kind is TokenKind.NEGATE:  # a token only if something follows it, so there is a next one
            negated ^= bool(len(token.text) % 2)
            token = self.tokens[self.next]
            self.next += 1
        node = self.operand(token, depth)
        return negation(node) if negated else node

    def operand(self, token: Token, depth: int) -> Node:
        if token.kind is TokenKind.WORD or token.kind is TokenKind.PHRASE:
            return self.text(token)
        if token.kind is TokenKind.FILTER:
            return self.filter(token)
        if token.kind is TokenKind.OPEN:
            return self.group(token, depth + 1)
        raise self.error("this quote is not closed", token)

    def group(self, opening: Token, depth: int) -> Node:
        if depth > DEEPEST_NESTING:
            raise self.error(f"more than {DEEPEST_NESTING} groups inside each other", opening)
        self.count(1, opening)
        node = self.either(depth)
        if not self.take(TokenKind.CLOSE):
            raise self.error("this ( is not closed", opening)
        if levels(node) > MOST_LEVELS:
            raise self.error(_TOO_DEEP, opening)
        return node

    def filter(self, token: Token) -> Node:
        raw = token.text[len(token.key) + 1 :]
        if not raw and token.key.lower() not in NAMES:
            return self.text(token)
        if token.key.lower() == ORDER:
            msg = "order: is no condition; it stands at the top of q, beside its conditions, or is a parameter"
            raise self.error(msg, token)
        spec = find_filter(token.key, field=self.field, position=token.start)
        following = self.peek()
        if raw and following and following.kind is TokenKind.OPEN and following.start == token.end:
            raise self.error(f"{spec.name}: a value with parentheses needs quotes", following)
        node = read_filter(spec, raw, Source(self.field, token.end - len(raw), token.end))
        self.count(terms(node), token)
        return node

    def text(self, token: Token) -> Node:
        quoted = token.kind is TokenKind.PHRASE
        try:
            found = read_term(token.text[1:-1] if quoted else token.text, quoted=quoted)
        except ValueError as error:
            raise self.error(str(error), token) from error
        node: Node = found or Everything()
        if not quoted:
            source = Source(self.field, token.start, token.end)
            refuse_comparison(token.text, source)
            starred = token.text.endswith("*")
            word = found.text if isinstance(found, Word) and not starred else token.text
            node = disjunction([node, also_means(token.text, word, source) or node])
        self.count(max(terms(node), 1), token)
        return node

    def count(self, number: int, token: Token) -> None:
        self.terms += number
        if self.terms > MOST_TERMS:
            raise self.error(f"more than {MOST_TERMS} terms", token)

    def peek(self) -> Token | None:
        return self.tokens[self.next] if self.next < len(self.tokens) else None

    def take(self, kind: TokenKind) -> bool:
        token = self.peek()
        taken = token is not None and token.kind is kind
        self.next += taken
        return taken

    def error(self, message: str, token: Token) -> InvalidQueryError:
        return InvalidQueryError(message, field=self.field, position=token.start)


def _with_operator_words(found: list[Token]) -> list[Token]:
    """Turn `and` and `or` between two terms into operators, and `NOT` before a term into a sign."""
    for at in range(len(found) - 2, -1, -1):
        if found[at].text == NEGATION_WORD and found[at].kind is TokenKind.WORD and found[at + 1].kind in _TERM_STARTS:
            found[at] = found[at]._replace(kind=TokenKind.NEGATE)
    for at in range(1, len(found) - 1):
        token = found[at]
        kind = OPERATOR_WORDS.get(token.text.lower()) if token.kind is TokenKind.WORD else None
        if kind and found[at - 1].kind in _TERM_ENDS and found[at + 1].kind in _TERM_STARTS:
            found[at] = token._replace(kind=kind)
    return found


def split_order(text: str, field: str = "q") -> tuple[str, str]:
    """Return the query with blanks in place of `order:name`, and the name; it is empty if the query names no order.

    An order applies to the whole query, so it must stand beside the conditions at the top: not in a group or after a
    sign.

    Raises:
        InvalidQueryError: the text is too long, or contains characters that no database can store.

    """
    check(text, field)
    order, depth = "", 0
    found = list(islice(tokens(text), MOST_TOKENS + 1))
    for before, token, after in zip([None, *found], found, [*found[1:], None], strict=False):
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        bound = (before and (before.kind in _BINDERS or before.text == NEGATION_WORD)) or (
            after and after.kind is TokenKind.EITHER
        )
        if token.kind is TokenKind.FILTER and token.key.lower() == ORDER and not depth and not bound:
            order = token.text[len(ORDER) + 1 :].strip('"')
            text = text[: token.start] + " " * len(token.text) + text[token.end :]
    return text, order


def parse_parameters(pairs: Pairs) -> Node:
    """Parse the GET parameters that name a filter, and return the conjunction of their conditions.

    In the value of a parameter, blanks and parentheses need no quotes. Other names and empty values are ignored. If a
    parameter is repeated, also by an alias, its last value that is not empty counts.

    Raises:
        InvalidQueryError: a value is not valid; the error names its parameter.

    """
    given: dict[str, tuple[str, str]] = {}
    for key, text in _flat(pairs):
        if text.strip() and (spec := NAMES.get(key)):
            given[spec.name] = (key, text)
    parts = []
    for name, (key, text) in given.items():
        check(text, key)
        parts.append(read_filter(FILTERS[name], text, Source(key, 0, len(text))))
        if sum(map(terms, parts)) > MOST_TERMS:
            raise InvalidQueryError(f"more than {MOST_TERMS} terms", field=key)
    return conjunction(parts)


def parse_scope(pairs: Pairs) -> Node:
    """Parse the last parameter `filter` that is not empty: a query that narrows the whole search down.

    Raises:
        InvalidQueryError: the text is not a query.

    """
    texts = [text for key, text in _flat(pairs) if key == "filter" and text.strip()]
    return locate(parse_query(texts[-1], field="filter")) if texts else Everything()


def combine(query: Node, parameters: Node, unset: Collection[str] = ()) -> Node:
    """Combine the conditions of both: first `overlay`, then `locate`.

    Raises:
        InvalidQueryError: `lat` or `lng` is given without the other.

    """
    return locate(overlay(query, parameters, unset))


def overlay(query: Node, parameters: Node, unset: Collection[str] = ()) -> Node:
    """Join the conditions of both; a filter at the top of `query` replaces parameters of the same name.

    Args:
        query: the parsed query.
        parameters: the conditions of the parameters.
        unset: names of filters that the query mentions without a condition; see `unset_filters`.

    """
    named = {name for part in conjuncts(query) if (name := _name(part))}.union(unset)
    return conjunction([*conjuncts(query), *(p for p in conjuncts(parameters) if _name(p) not in named)])


def _flat(pairs: Pairs) -> Iterable[tuple[str, str]]:
    if isinstance(pairs, Mapping):
        return ((key, text) for key, texts in pairs.items() for text in texts)
    return pairs


def _name(node: Node) -> str | None:
    if isinstance(node, Not):
        node = node.part
    return node.name if isinstance(node, Filter) else None
