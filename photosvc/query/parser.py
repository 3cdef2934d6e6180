"""The parser of queries: from query text to nodes.

Some plain words, neither quoted nor with a `*` at the end, have a meaning of their own: `june 2019` is the filter
`taken:2019-06` (see `spoken`), `not` negates, and `the` is left out.
"""

import re
from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import Final, NamedTuple

from photosvc.core.message import Message, did_you_mean, of_field
from photosvc.data.place_names import MOST_WORDS as MOST_NAME_WORDS
from photosvc.query.filters import NAMES, FilterSpec
from photosvc.query.fold import fold, word_line
from photosvc.query.lexer import (
    Token,
    TokenKind,
    check_text,
    close_quote,
    open_quote,
    read_models,
    read_place,
    read_term,
    tokens,
)
from photosvc.query.nodes import (
    Choice,
    Everything,
    Filter,
    InvalidQueryError,
    Node,
    Not,
    Span,
    conjunction,
    disjunction,
    excerpt,
    levels,
    negation,
    terms,
)
from photosvc.query.reader import read_filter
from photosvc.query.spoken import MOST_WORDS, may_mean, read_spoken, takes_phrase
from photosvc.query.spoken_dates import Meaning

#: Articles, prepositions, `and`, and words for everything in a library, folded, in English, German, French and Spanish:
#: left out if the query has other words.
LITTLE_WORDS: Final = frozenset(
    word
    for words in (
        "a an and at by for from in of on photos pictures the to with",
        "am an auf aus bei bilder das dem den der des die ein eine einem einen einer fotos fur im mit nach",
        "und vom von zu zum zur",
        "au aux avec dans de des du en et images la le les par pour sur un une",
        "al con del el en imagenes las los para por un una y",
    )
    for word in words.split()
)
#: A comparison without a colon or without the name of a filter.
_COMPARISON: Final = re.compile(r"(?P<key>[^\W\d_][\w-]*+)?(?P<sign>[<>]=?|=)(?P<value>.*)", re.DOTALL)
DEEPEST_NESTING = 64
MOST_LEVELS = 20
"""Levels of `and` inside `or` inside `and` …; the parser of SQLite has room for about 28."""
MOST_TERMS = 256
#: The first terms of a query, among which words may name models; names of models are not counted as terms.
_MOST_MODELS = 16
#: The first terms of a query, among which words may name places in other languages.
_MOST_NAMES = 16
MOST_TOKENS = 5 * MOST_TERMS
"""A term may have a sign, two parentheses and an operator."""
#: Words that are operators between two terms, as in PhotoPrism.
OPERATOR_WORDS = dict.fromkeys(("or", "oder", "ou"), TokenKind.EITHER) | dict.fromkeys(
    ("and", "und", "et", "y"), TokenKind.BOTH
)
#: Words that negate the next term, like `-`, except before words as in `to be or not to be`; `no` does not negate a
#: number. `NOT` in capitals negates any term.
_NEGATION_WORD = "NOT"
NEGATION_WORDS = {"not", "without", "no", "nicht", "ohne", "kein", "keine", "sans"}
_NOT_NEGATED = {*LITTLE_WORDS, *OPERATOR_WORDS, *NEGATION_WORDS, "be"}
_TOO_DEEP = f"more than {MOST_LEVELS} changes between 'and' and 'or' inside each other"
#: The key for the order of a whole query; it is no filter.
ORDER = "order"
#: Tokens that join or negate the tokens beside them.
BINDERS = {TokenKind.EITHER, TokenKind.NEGATE}
_BOTH_ENDS = {TokenKind.EITHER, TokenKind.CLOSE}
_TERM_ENDS = {TokenKind.CLOSE, TokenKind.PHRASE, TokenKind.FILTER, TokenKind.WORD}
_TERM_STARTS = {TokenKind.OPEN, TokenKind.NEGATE, TokenKind.PHRASE, TokenKind.FILTER, TokenKind.WORD}


def refuse_comparison(word: str, source: Span) -> None:
    """Refuse `iso>800` and `>800`, which are meant as filters and not as words.

    Raises:
        InvalidQueryError: the word is such a comparison; the message shows the right form.
    """
    comparison = _COMPARISON.fullmatch(word)
    if comparison is None:
        return
    key, sign, value = comparison["key"], comparison["sign"].removeprefix("="), comparison["value"]
    if key and key.lower() in NAMES:
        msg = Message("{name} is neither a word nor a filter", name=excerpt(word))
        meant = f"{key.lower()}:{excerpt(sign + value)[1:-1]}"
        msg = Message("{message}; did you mean {name}?", message=msg, name=meant)
    elif not key and sign and value[:1].isdecimal():
        msg = Message(
            "{name} compares nothing; write the name of a filter before it, as in iso:>800", name=excerpt(word)
        )
    else:
        return
    raise InvalidQueryError(msg, field=source.field, position=source.start)


class Understood(NamedTuple):
    """Words of a query that mean a filter, with their meaning."""

    start: int
    end: int
    """The characters of the query."""
    meaning: Meaning


def parse_query(text: str, today: date, field: str = "q") -> Node:
    r"""Parse `text` as a query; blank text means everything.

        query   = either
        either  = both { ( "|" | "or" ) both }
        both    = [ term { [ "&" | "and" ] term } ]
        term    = { "-" | "!" | "not" } ( "(" either ")" | phrase | filter | spoken | word )
        phrase  = '"' text '"'
        spoken  = word { word }                 words that mean a filter, as in `spoken`
        filter  = key ":" value                 a name of `FILTERS`; the value as in `lexer`
        word    = characters other than blanks and ( ) | & "

    - `and` binds tighter than `or`. The two words are operators in any case of letters, but only between terms;
      quoted, or at the ends of a query or group, they are words. `not`, `no` and `without` before a term are signs.
    - A sign negates the term that follows it without a blank; with blanks around it, it is punctuation. Of words that
      mean a filter together, `-` negates only the first.
    - Operators without operand, empty groups and words without letters, digits and emoji are ignored; so are little
      words (`in of the`) beside other words.
    - A word of three characters or more, of two in scripts other than Latin, Greek and Cyrillic, also matches longer
      words that start with it; a shorter one does with a `*` (`ab*`), a quoted one (`"abc"`) never does. Words joined
      by punctuation, such as `IMG_1234`, are a phrase. A word also stands for its plural or singular, and some for a
      filter: either may match.
    - `12:30` and `http://…` are words, and so is `note:` with nothing after it, unless it names a filter: a filter
      without a value has no effect.

    Args:
        text: the text that a person typed: at most 4096 characters, 64 nested groups, 20 changes between `and` and
            `or` inside each other, and 256 terms (words, groups, and alternatives of filters; an alternative with
            wildcards counts as their number).
        today: the day that `yesterday` precedes.
        field: the request parameter that errors name.

    Raises:
        InvalidQueryError: the text is not a query; the message says where and why.
    """
    check_text(text, field)
    if opened := open_quote(text):
        raise InvalidQueryError("this quote is not closed", field=field, position=opened.start)
    return _Parser(text, field, today).query()


def understand(text: str, today: date) -> list[Understood]:
    """Return the words of a query that mean a filter, in their order; the query may name an order.

    Raises:
        InvalidQueryError: the text is not a query.
    """
    text, _ = split_order(text)
    parser = _Parser(text, "q", today)
    parser.query()
    return parser.understood


def find_filter(key: str, *, field: str, position: int) -> FilterSpec:
    """Find the filter with this name or alias, in any case.

    Raises:
        InvalidQueryError: there is none.
    """
    spec = NAMES.get(key.lower())
    if spec is None:
        msg = did_you_mean(Message("unknown filter {name}", name=excerpt(key)), key, NAMES)
        raise InvalidQueryError(msg, field=field, position=position)
    return spec


class _Parser:
    """A recursive descent parser, one function for each rule."""

    def __init__(self, text: str, field: str, today: date) -> None:
        self.field = field
        self.today = today
        self.tokens = read_tokens(text)
        self.next = 0
        self.terms = 0
        self.understood: list[Understood] = []

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
        spoken = False
        while (token := self.peek()) is not None and token.kind not in _BOTH_ENDS:
            self.next += 1
            if token.kind is TokenKind.BOTH:
                continue
            known, first = len(self.understood), self.next
            part = self.term(token, depth)
            alone = known == len(self.understood) and self.next == first  # not the first word of a place
            if alone and token.kind is TokenKind.WORD and fold(token.text) in LITTLE_WORDS:
                little.append(len(parts))
            spoken = spoken or known != len(self.understood)
            parts.append(part)
        others = [part for at, part in enumerate(parts) if at not in little]
        alone = not spoken and all(isinstance(part, Filter | Not | Everything) for part in others)
        return conjunction(parts if alone else others)

    def term(self, token: Token, depth: int) -> Node:
        negated, longest = False, MOST_WORDS
        while token.kind is TokenKind.NEGATE:  # a token only if something follows it, so there is a next one
            negated ^= bool(len(token.text) % 2)
            longest = 1 if token.end == self.tokens[self.next].start else MOST_WORDS
            token = self.tokens[self.next]
            self.next += 1
        node = self.operand(token, depth, longest)
        return negation(node) if negated else node

    def operand(self, token: Token, depth: int, longest: int) -> Node:
        if token.kind is TokenKind.FILTER:
            return self.filter(token)
        if token.kind is TokenKind.OPEN:
            return self.group(token, depth + 1)
        return self.text(token) if token.kind is TokenKind.PHRASE else self.word(token, longest)

    def word(self, token: Token, longest: int) -> Node:
        """Return the condition for a word, or for the meaning of at most `longest` words from it on."""
        first = self.next - 1
        meaning = read_spoken(self.words_from(first, longest), self.today) if may_mean(token.text) else None
        if meaning is None:
            return self.place(token, longest) or self.text(token)
        self.next = first + meaning.words
        last = self.tokens[self.next - 1]
        self.understood.append(Understood(token.start, last.end, meaning))
        node = _Parser(meaning.query, self.field, date.min).query()  # all of its words stand in quotes
        if meaning.words == 1:
            return disjunction([self.text(token), self.counted(node, token)])
        return self.counted(node, token)

    def place(self, token: Token, longest: int) -> Node | None:
        """Return the condition for the longest name of a place in another language from a word on; None without a name.

        Photos with the typed words match as well.
        """
        if self.terms >= _MOST_NAMES:
            return None
        first = self.next - 1
        typed = self.words_from(first, min(longest, MOST_NAME_WORDS))
        starred = next((at for at, word in enumerate(typed) if "*" in word), len(typed))
        for length in range(starred, 0, -1):
            own_names = read_place(word_line(" ".join(typed[:length])))
            if own_names:
                self.next = first + length
                typed_words = [word for word in self.tokens[first : self.next] if word.kind is TokenKind.WORD]
                place = self.counted(Filter("place", Choice(tuple(own_names))), token)
                return disjunction([conjunction([self.text(word) for word in typed_words]), place])
        return None

    def words_from(self, first: int, longest: int) -> list[str]:
        """Return a word and the words behind it; `and` and a phrase may be among them."""
        texts = [self.tokens[first].text]
        for token in self.tokens[first + 1 : first + longest]:
            if token.kind is TokenKind.PHRASE:
                if takes_phrase(texts):
                    texts.append(token.text)
                break
            if token.kind is not TokenKind.WORD and token.kind is not TokenKind.BOTH:
                break
            texts.append(token.text)
        return texts

    def group(self, opening: Token, depth: int) -> Node:
        if depth > DEEPEST_NESTING:
            raise self.error(Message("more than {most} groups inside each other", most=DEEPEST_NESTING), opening)
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
            return self.word(token, 1)
        if token.key.lower() == ORDER:
            msg = "order: is no condition; it stands at the top of q, beside its conditions, or is a parameter"
            raise self.error(msg, token)
        spec = find_filter(token.key, field=self.field, position=token.start)
        following = self.peek()
        if raw and following and following.kind is TokenKind.OPEN and following.start == token.end:
            raise self.error(of_field(spec.name, "a value with parentheses needs quotes"), following)
        node = read_filter(spec, raw, Span(self.field, token.end - len(raw), token.end))
        self.count(terms(node), token)
        return node

    def text(self, token: Token) -> Node:
        quoted = token.kind is TokenKind.PHRASE
        try:
            term = read_term(token.text[1:-1] if quoted else token.text, quoted=quoted)
        except ValueError as error:
            raise self.error(str(error), token) from error
        node: Node = term or Everything()
        if not quoted:
            refuse_comparison(token.text, Span(self.field, token.start, token.end))
        models = not quoted and self.terms < _MOST_MODELS
        self.counted(node, token)
        return disjunction([node, *read_models(token.text)]) if models else node

    def counted(self, node: Node, token: Token) -> Node:
        self.count(max(terms(node), 1), token)
        return node

    def count(self, number: int, token: Token) -> None:
        self.terms += number
        if self.terms > MOST_TERMS:
            raise self.error(Message("more than {most} terms", most=MOST_TERMS), token)

    def peek(self) -> Token | None:
        return self.tokens[self.next] if self.next < len(self.tokens) else None

    def take(self, kind: TokenKind) -> bool:
        token = self.peek()
        taken = token is not None and token.kind is kind
        self.next += taken
        return taken

    def error(self, message: str, token: Token) -> InvalidQueryError:
        return InvalidQueryError(message, field=self.field, position=token.start)


def read_tokens(text: str) -> list[Token]:
    """Return the tokens of a query: `and` and `or` between two terms are operators, `not` before a term is a sign."""
    sequence = list(islice(tokens(close_quote(text)), MOST_TOKENS + 1))
    for at in range(len(sequence) - 2, -1, -1):
        if _negates(sequence[at], sequence[at + 1]):
            sequence[at] = sequence[at]._replace(kind=TokenKind.NEGATE, text="-")
    for at in range(1, len(sequence) - 1):
        token = sequence[at]
        kind = OPERATOR_WORDS.get(token.text.lower()) if token.kind is TokenKind.WORD else None
        if kind and sequence[at - 1].kind in _TERM_ENDS and sequence[at + 1].kind in _TERM_STARTS:
            sequence[at] = token._replace(kind=kind)
    return sequence


def _negates(token: Token, following: Token) -> bool:
    """Return whether a token is a word that negates the term behind it."""
    if token.kind is not TokenKind.WORD or following.kind not in _TERM_STARTS:
        return False
    word = token.text.lower()
    if word not in NEGATION_WORDS or token.text == _NEGATION_WORD:
        return token.text == _NEGATION_WORD
    behind = following.text.lower()
    if following.kind is not TokenKind.WORD:
        return following.kind is not TokenKind.NEGATE
    return behind not in _NOT_NEGATED and not (word == "no" and behind[0].isdecimal())


def split_order(text: str) -> tuple[str, str]:
    """Return the query with blanks in place of `order:name`, and the name; the name is empty without an order.

    An order applies to the whole query, so that it must stand beside the conditions at the top, neither in a group nor
    after a sign.

    Raises:
        InvalidQueryError: the text is too long, or contains characters that no database can store.
    """
    check_text(text, "q")
    order = ""
    for before, token, after in top_filters(text):
        bound = (before and before.kind in BINDERS) or (after and after.kind is TokenKind.EITHER)
        if token.key.lower() == ORDER and not bound:
            order = token.text[len(ORDER) + 1 :].strip('"')
            text = text[: token.start] + " " * len(token.text) + text[token.end :]
    return text, order


def top_filters(text: str) -> Iterator[tuple[Token | None, Token, Token | None]]:
    """Yield the filters outside of groups, each with the tokens beside it."""
    sequence, depth = read_tokens(text), 0
    for before, token, after in zip([None, *sequence], sequence, [*sequence[1:], None], strict=False):
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        if token.kind is TokenKind.FILTER and not depth:
            yield before, token, after
