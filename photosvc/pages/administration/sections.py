"""The parts of Administration, in the order of their navigation."""

from dataclasses import dataclass
from typing import Final

from photosvc.auth.policy import may
from photosvc.auth.principal import Principal


@dataclass(frozen=True, slots=True)
class Section:
    """A part with a page of its own."""

    endpoint: str
    """Of that page."""
    label: str
    action: str
    """Of the policy: who may do it sees the part."""


SECTIONS: Final = (
    Section("accounts", "Accounts", "users.list"),
    Section("clients", "Clients", "clients.list"),
    Section("devices", "Devices", "tokens.list"),
    Section("security_log", "Security log", "audit.view"),
    Section("library", "Library", "library.view"),
    Section("look_alikes", "Look-alikes", "library.tidy"),
    Section("statistics", "Statistics", "library.view"),
)


def sections_of(who: Principal | None) -> list[Section]:
    """The parts that are open to `who`."""
    return [section for section in SECTIONS if who is not None and may(who, section.action)]
