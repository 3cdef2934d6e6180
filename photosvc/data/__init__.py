"""Tables shipped with the service: places, country names, common passwords. See NOTICE for their sources."""

from pathlib import Path

#: The gazetteer, an SQLite file; `tools/build_places.py` in the source repository describes it.
PLACES = Path(__file__).with_name("places.sqlite")

#: Country codes and their English names, one country a line.
COUNTRIES = Path(__file__).with_name("countries.txt")

#: Common passwords in lower case, one a line, sorted; written by `tools/build_common_passwords.py`.
COMMON_PASSWORDS = Path(__file__).with_name("common_passwords.txt")
