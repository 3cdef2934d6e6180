"""The headers with the tokens that open thumbnails and originals in addresses, where clients send no header."""

from typing import Final

from photosvc.auth import link_tokens, policy
from photosvc.web.contract import Header
from photosvc.web.protector import principal
from photosvc.web.service import current_service

#: The descriptions of the headers that `link_headers` returns.
LINK_HEADERS: Final = {
    "X-Preview-Token": Header("string", "Opens thumbnails.", "photos.preview"),
    "X-Download-Token": Header("string", "Opens originals, for an hour.", "photos.download"),
}


def link_headers() -> list[tuple[str, str]]:
    """Return the headers with the tokens of links that the principal of this request may use."""
    service, who = current_service(), principal()
    headers = []
    if policy.may(who, "photos.preview"):
        headers.append(("X-Preview-Token", link_tokens.preview_token(service.settings, who)))
    if policy.may(who, "photos.download") and (who.shared is None or who.shared.downloads):
        headers.append(("X-Download-Token", link_tokens.download_token(service.settings, who, service.now())))
    return headers
