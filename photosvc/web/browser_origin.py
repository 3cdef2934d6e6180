"""The page from which a browser sent a request, and whether the session cookie counts for it (CSRF).

Browsers send a cookie with every request to a host, even if pages of other ports or, within limits, of other sites
cause it. So it counts only where `Sec-Fetch-Site` or, where that is absent (plain http in a home network), `Origin`
shows that a page of photosvc sent the request; and at the API only with a header that pages of others cannot set.
"""

from enum import Enum
from urllib.parse import urlsplit

from flask import Request

from photosvc.core.errors import NeverPermittedError

#: The header with which photosvc's scripts mark their requests: other origins would need a preflight, which is refused.
MARK = "X-Photosvc"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS = {"http": ":80", "https": ":443"}


class CookiePlace(Enum):
    """The kind of view that a cookie is shown to."""

    API = "api"
    PAGE = "page"
    MEDIA = "media"
    """Originals, which pages link to: no script adds a header to these requests."""


class OtherSiteError(NeverPermittedError):
    """Another site or program sent this request from a browser: open the page again and repeat it."""


def cookie_counts(request: Request, place: CookiePlace, base_url: str) -> bool:
    """Return whether the session cookie of a request counts; False: the request is answered as if it had none.

    Raises:
        OtherSiteError: the request would change something, or would show something within a page of another site.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if changes(request):
        if not is_own(request, base_url) or (place is CookiePlace.API and not _is_marked(request)):
            raise OtherSiteError
        return True
    if place is CookiePlace.API:
        return site in {None, "same-origin"} and _is_marked(request)
    if place is CookiePlace.PAGE and is_navigation(request):
        return True
    if site not in {None, "same-origin", "none"}:
        raise OtherSiteError
    return True


def changes(request: Request) -> bool:
    """Return whether the method of a request may change something."""
    return request.method not in _SAFE


def is_foreign(request: Request, base_url: str) -> bool:
    """Return whether a browser reports that a page of another origin caused a request that may change something.

    It is False without a report, as for programs; `is_own` requires a report. `none` in a report stands for a person or
    an extension of the browser, never for a page.
    """
    if request.headers.get("Sec-Fetch-Site") == "none":
        return False
    has_report = "Sec-Fetch-Site" in request.headers or "Origin" in request.headers
    return has_report and not is_own(request, base_url)


def is_own(request: Request, base_url: str) -> bool:
    """Return whether the browser reports that a page of photosvc sent a request that may change something."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    public = urlsplit(base_url)
    return request.headers.get("Origin", "").lower() in {
        origin_of_host(public.scheme, public.netloc),
        # `request.host` would leave out ports by the scheme and refuse some names.
        origin_of_host(request.scheme, str(request.environ.get("HTTP_HOST", ""))),
    }


def is_navigation(request: Request) -> bool:
    """Return whether a browser opens this as a page of its own, not within another page; True for old browsers."""
    return request.headers.get("Sec-Fetch-Dest", "document") == "document"


def _is_marked(request: Request) -> bool:
    return request.headers.get(MARK) == "1"


def origin_of_host(scheme: str, host: str) -> str:
    """Return scheme, host and port as browsers write them: in lower case, without the port that the scheme implies.

    The host of a request is arbitrary text, so it is compared unchanged and never parsed.
    """
    return f"{scheme}://{host.removesuffix(_PORTS.get(scheme.lower(), ''))}".lower()
