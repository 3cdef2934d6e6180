"""Messages that keep their code and their values, so that pages translate them; numbers and suggestions in them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self

from photosvc.core.text import names_like


class Message(str):
    """A message in English: its code is a sentence with a field for each value, such as `more than {most} terms`.

    Numbers get separators between thousands. Values that are messages are translated with it, other texts stay.
    """

    code: str
    values: Sequence[object]
    named: Mapping[str, object]

    def __new__(cls, code: str, *values: object, **named: object) -> Self:
        """Put the values into the code; return a message unchanged."""
        if isinstance(code, cls):
            return code
        message = super().__new__(cls, _filled(code, values, named, str, "{:,}".format))
        message.code, message.values, message.named = code, values, named
        return message

    def translated(self, translate: Callable[[str], str], grouped: Callable[[int], str]) -> str:
        """Return the message in another language, by functions for a code and for a number."""
        return _filled(self.code, self.values, self.named, translate, grouped)


def _filled(
    code: str,
    values: Sequence[object],
    named: Mapping[str, object],
    translate: Callable[[str], str],
    grouped: Callable[[int], str],
) -> str:
    def shown(value: object) -> object:
        if isinstance(value, Message):
            return value.translated(translate, grouped)
        return grouped(value) if isinstance(value, int) else value

    if not values and not named:  # braces in it are plain characters
        return translate(code)
    return translate(code).format(*map(shown, values), **{name: shown(value) for name, value in named.items()})


def of_field(field: str, message: str) -> Message:
    """Return the message with the name of its field before it."""
    return Message("{field}: {message}", field=field, message=Message(message))


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return the number with its noun: `1 file`, `2,000 files`; by default the plural is the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def agreeing(number: int, singular: str, plural: str) -> str:
    """Return the form of a word that agrees with the number."""
    return singular if number == 1 else plural


def did_you_mean(message: str, typed: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return an error message that suggests the known name most like the typed one.

    If no name is like it, `otherwise` is appended instead.
    """
    if near := names_like(typed, known):
        return Message("{message}; did you mean {name}?", message=Message(message), name=f'"{near[0]}"')
    return message + otherwise if otherwise else message
