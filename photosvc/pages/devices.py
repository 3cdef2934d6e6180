"""Administration > Devices: access tokens for devices and programs, which belong to no account."""

from typing import Final

from flask import Response, request, url_for

from photosvc.auth import bearer, credentials
from photosvc.auth.scopes import parse_scope
from photosvc.core.accounts import CREDENTIAL_LIFETIME
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.models import ACCESS_TOKEN
from photosvc.pages import wording
from photosvc.pages.forms import read_form, read_number
from photosvc.pages.frame import administration_page, chosen_scope, show_administration
from photosvc.pages.language import N_
from photosvc.pages.layout import pages, see_other
from photosvc.web.auditing import operating
from photosvc.web.current import current_service

#: The most tokens on the page; the search finds the others.
_MOST: Final = 200
_DONE: Final = {"revoked": N_("Token revoked.")}
_EMPTY: Final = {"scope": wording.TOKEN_CHOICES[0].scope, "lifetime": str(CREDENTIAL_LIFETIME)}


@pages.get("/administration/devices", endpoint="devices")
@administration_page("tokens.list")
def list_devices() -> Response:
    """List the tokens, the most recently used first, or those that the search finds."""
    return _devices()


@pages.post("/administration/devices")
@administration_page("tokens.add")
def add_device() -> Response:
    """Make a token; only this page shows it."""
    form = read_form()
    name = form.get("name", "").strip()
    try:
        lifetime = read_number(form, "lifetime")
        wanted = parse_scope(chosen_scope(form))
        with operating() as operation:
            secret = credentials.issue(operation, name=name, scope=wanted, lifetime=lifetime).secret
    except InvalidValueError as error:
        return _devices(error, given=form)
    return _devices(name=name, secret=secret)


@pages.post("/administration/devices/<credential>/revoke")
@administration_page("tokens.remove")
def revoke_device(credential: str) -> Response:
    """Revoke a token."""
    with operating() as operation:
        credentials.revoke_owned(operation, None, ACCESS_TOKEN, credential)
    return see_other(url_for(".devices", done="revoked"))


def _devices(
    error: PhotosvcError | None = None, *, given: dict[str, str] | None = None, name: str = "", secret: str = ""
) -> Response:
    import segno

    search = request.args.get("q", "").strip()
    with current_service().reading(orm=True) as session:
        found = bearer.list_credentials(session, kinds=[ACCESS_TOKEN], search=search, limit=_MOST + 1)
        return show_administration(
            "devices",
            "devices",
            error=error,
            told=_DONE,
            tokens=found[:_MOST],
            more=len(found) > _MOST,
            search=search,
            given=given or _EMPTY,
            name=name,
            secret=secret,
            qr=segno.make(secret, error="m", micro=False).svg_inline(scale=4, border=2) if secret else "",
            wording=wording,
        )
