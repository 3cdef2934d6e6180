"""The blueprint of all pages, to which each module of pages adds its routes."""

from typing import Final

from photosvc.web.contract import OwnBlueprint

BLUEPRINT: Final = "photosvc_pages"
#: Host apps restyle the pages by templates of the same names (`photosvc/….html`).
pages = OwnBlueprint(BLUEPRINT, __name__, template_folder="templates")
