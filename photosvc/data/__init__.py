"""Tables shipped with the service: places of the world and country names. See NOTICE for their sources."""

from pathlib import Path

#: The gazetteer, an SQLite file; `tools/build_places.py` in the source repository describes it.
PLACES = Path(__file__).with_name("places.sqlite")

#: Country codes and their English names, one country a line.
COUNTRIES = Path(__file__).with_name("countries.txt")
