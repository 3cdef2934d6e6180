"""Messages that keep their code and their values, so that the pages can say them in another language."""

from collections.abc import Callable, Mapping, Sequence
from typing import Self


class Message(str):
    """A message in English: its code is a sentence with a field for each value, such as `more than {most} terms`.

    Numbers get separators between thousands. Values that are messages are translated with it, other texts stay.
    """

    code: str
    values: Sequence[object]
    named: Mapping[str, object]

    def __new__(cls, code: str, *values: object, **named: object) -> Self:
        """Put the values into the code; a message stays what it is."""
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
    def said(value: object) -> object:
        if isinstance(value, Message):
            return value.translated(translate, grouped)
        return grouped(value) if isinstance(value, int) else value

    if not values and not named:  # braces in it are plain characters
        return translate(code)
    return translate(code).format(*map(said, values), **{name: said(value) for name, value in named.items()})


def of_field(field: str, message: str) -> Message:
    """Return the message about a field with its name before it."""
    return Message("{field}: {message}", field=field, message=Message(message))
