"""Where a request comes from, as owners of credentials see it."""

from dataclasses import dataclass
from typing import Final

_MOST_ADDRESS: Final = 64
_MOST_AGENT: Final = 255


@dataclass(frozen=True, slots=True)
class Origin:
    """The address and the program of a client, as far as they are printable, and cut to what is stored."""

    address: str = ""
    user_agent: str = ""

    @classmethod
    def of(cls, address: str, user_agent: str) -> "Origin":
        """The origin of a request with this address and this header `User-Agent`."""
        return cls(_printable(address, _MOST_ADDRESS), _printable(user_agent, _MOST_AGENT))


NOWHERE: Final = Origin()


def _printable(text: str, length: int) -> str:
    return "".join(character for character in text[:length] if character.isprintable())
