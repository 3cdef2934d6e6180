"""Short phrases for entries of the security log: what was changed, which credential it is. Values are not secret."""

from collections.abc import Mapping

from photosvc.models import Client, Credential, User

#: Values that are shown; of others, as an address for email, only that they changed.
_SHOWN = frozenset({"role", "scope", "lifetime", "limit", "token_format"})
#: Columns of options that have another name.
_COLUMNS = {"lifetime": "token_lifetime", "limit": "token_limit"}


def credential(found: Credential) -> str:
    """The kind, name and scope of a credential."""
    name = f" {found.name!r}" if found.name else ""
    return f"{found.kind.replace('_', ' ')}{name}, scope {found.scope}"


def client(found: Client) -> str:
    """What a client may do."""
    return f"role {found.role}, scope {found.scope}"


def changes(before: User | Client, given: Mapping[str, object]) -> str:
    """What changes, by the names of the columns or options; call it before they do.

    Args:
        before: the account or client as it is.
        given: the new values; those that are None, and unknown ones, stay.

    """
    phrases = []
    for name, value in given.items():
        old = getattr(before, _COLUMNS.get(name, name), None)
        if value is None or value == old:
            continue
        if isinstance(value, bool):
            phrases.append(name if value else f"not {name}")
        elif name in _SHOWN:
            phrases.append(f"{name.replace('_', ' ')} {old} to {value}")
        else:
            phrases.append(name.replace("_", " "))
    return ", ".join(phrases)
