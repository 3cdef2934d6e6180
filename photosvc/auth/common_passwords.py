"""Common passwords, which attackers try first (OWASP ASVS 6.2.4).

The list, `photosvc/data/common_passwords.txt`, has those of the 30,000 most frequent that are long enough to be set.
"""

import unicodedata

from photosvc import data


def is_common(password: str) -> bool:
    """Return whether the list has the password, in any case and width, with or without blanks around it.

    Passwords are rarely set, so the file is searched rather than kept in memory.
    """
    word = unicodedata.normalize("NFKC", password).strip().casefold()
    lines = "\n" + data.COMMON_PASSWORDS.read_text("utf-8")
    return word.isprintable() and f"\n{word}\n" in lines
