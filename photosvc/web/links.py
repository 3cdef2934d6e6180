"""The headers with the tokens that open thumbnails and originals in addresses, where clients send no header."""

from typing import Final

from photosvc.auth import link_tokens, policy
from photosvc.auth.principal import Principal
from photosvc.web.contract import Header
from photosvc.web.protector import principal
from photosvc.web.service import Service, current_service

#: The descriptions of the headers that `link_headers` returns.
LINK_HEADERS: Final[dict[str, Header]] = {
    "X-Preview-Token": Header("string", "Opens thumbnails.", "photos.preview"),
    "X-Download-Token": Header("string", "Opens originals, for an hour.", "photos.download"),
}


def usable_tokens(service: Service, who: Principal) -> tuple[str, str]:
    """Return the preview token and the download token of a principal; a token that it may not use is empty."""
    settings = service.settings
    preview = link_tokens.preview_token(settings, who) if policy.may(who, "photos.preview") else ""
    download = link_tokens.download_token(settings, who, service.now()) if policy.may(who, "photos.download") else ""
    return preview, download


def shown_tokens() -> tuple[str, str]:
    """Return the usable tokens of this request for lists of photos; a share without downloads has no download token."""
    who = principal()
    preview, download = usable_tokens(current_service(), who)
    return preview, download if who.shared is None or who.shared.downloads else ""


def link_headers() -> list[tuple[str, str]]:
    """Return the headers with the tokens of links that the principal of this request may use."""
    return [(name, token) for name, token in zip(LINK_HEADERS, shown_tokens(), strict=True) if token]
