"""Whether a request that carries the session cookie comes from a page of ours.

Browsers send a cookie with every request to a host, also with requests that pages of other ports and, within limits, of
other sites cause. So it counts only where `Sec-Fetch-Site` or, where that is absent (plain http in a home network),
`Origin` says that one of our own pages sent the request; and at the API only with a header that pages of others cannot
set.
"""

from enum import Enum
from urllib.parse import urlsplit

from flask import Request

from photosvc.core.errors import PermissionDeniedError

#: The header by which our own scripts mark their requests: other origins would need a preflight, which none gets.
MARK = "X-Photosvc"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS = {"http": ":80", "https": ":443"}


class Place(Enum):
    """What a cookie is shown to."""

    API = "api"
    PAGE = "page"
    MEDIA = "media"
    """Originals, which pages link to: no script is there to add a header."""


class OtherSiteError(PermissionDeniedError):
    """Another site or program sent this request with the session of a browser: open the page again and repeat it."""

    by_credential = False


def cookie_counts(request: Request, place: Place, base_url: str) -> bool:
    """Whether the session cookie of a request counts; False: the request is answered as if it had none.

    Raises:
        OtherSiteError: the request is refused, because it would change something, or show something within a page of
            others.

    """
    site = request.headers.get("Sec-Fetch-Site")
    if request.method not in _SAFE:
        if not is_own(request, base_url) or (place is Place.API and not _is_marked(request)):
            raise OtherSiteError
        return True
    if place is Place.API:
        return site in {None, "same-origin"} and _is_marked(request)
    if place is Place.PAGE and is_navigation(request):
        return True
    if site not in {None, "same-origin", "none"}:
        raise OtherSiteError
    return True


def is_own(request: Request, base_url: str) -> bool:
    """Whether a request that changes something comes from a page of ours, as far as browsers tell."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    public = urlsplit(base_url)
    return request.headers.get("Origin", "").lower() in {
        _origin(public.scheme, public.netloc),
        _origin(request.scheme, _host(request)),
    }


def is_navigation(request: Request) -> bool:
    """Whether a browser opens this as a page of its own, not within another one; or is too old to tell."""
    return request.headers.get("Sec-Fetch-Dest", "document") == "document"


def _is_marked(request: Request) -> bool:
    return request.headers.get(MARK) == "1"


def _host(request: Request) -> str:
    # Not `request.host`, which leaves out ports by the scheme and refuses some names.
    return str(request.environ.get("HTTP_HOST", ""))


def _origin(scheme: str, host: str) -> str:
    """Scheme, host and port as browsers write them: in lower case, without the port that the scheme implies.

    The host of a request is any text, so it is compared as it is and never parsed.
    """
    return f"{scheme}://{host.removesuffix(_PORTS.get(scheme.lower(), ''))}".lower()
