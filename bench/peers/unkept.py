"""The service without kept pages: each page is read from the database, however often it is requested."""

from photosvc.app import create_app
from photosvc.search.reading import pages

# A page that is larger than this is not kept.
vars(pages)["_LARGEST"] = -1

app = create_app()
