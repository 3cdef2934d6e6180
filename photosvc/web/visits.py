"""Visits by public links, and uploads of their visitors.

A visit exchanges a token, and the password if the link has one, for a session of a day. Guesses are limited like
guesses of other secrets: unknown tokens by address, wrong passwords by address and by link. Visits of one link from one
address are limited too, because each is a row, and a new visit may end an older one. So are uploads, which occupy a
thread while their files arrive.
"""

from typing import Final

from flask import request

from photosvc.auth.audit import Event
from photosvc.auth.errors import InvalidCredentialsError, LoginError, ThrottledError
from photosvc.auth.login import Login
from photosvc.auth.operation import Operation
from photosvc.auth.passwords import verify_password
from photosvc.auth.throttle import Allowance, Charge, by_address, network_of, take
from photosvc.core.errors import NotFoundError
from photosvc.library.links import FoundLink, find_open, open_visit
from photosvc.web.auditing import operating, refuse
from photosvc.web.proxies import client_address, origin_of
from photosvc.web.service import Service

#: Wrong passwords of links from one address; wrong passwords of accounts are counted apart.
_PASSWORD_BY_ADDRESS: Final = Allowance("link-password-address", burst=10, seconds=60)
#: Wrong passwords of one link: more than one address may send, so that a guesser alone does not lock others out.
_PASSWORD_BY_LINK: Final = Allowance("link-password", burst=40, seconds=30)
#: Visits of one link from one address; browsers without cookies begin one with each page.
_VISITS_BY_ADDRESS: Final = Allowance("link-visits", burst=100, seconds=10)
#: Requests with files by one link from one address: scripts send a file in each.
_UPLOADS_BY_ADDRESS: Final = Allowance("link-uploads", burst=600, seconds=2)
#: The same by all links of an account: each leaves a job of the account, which may have 2000, until a run indexes them.
_UPLOADS_BY_ACCOUNT: Final = Allowance("link-requests", burst=1500, seconds=10)


class UnknownLinkError(NotFoundError):
    """The link does not exist, or has ended: ask for a new one."""


def find_shared(service: Service, token: str) -> FoundLink:
    """Return the link with this token.

    Raises:
        UnknownLinkError: there is none, or it opens nothing any more.
        ThrottledError: the address showed too many such tokens.
    """
    with service.reading() as connection:
        link = find_open(connection, token, service.now())
    if link is None:
        try:
            service.throttle.count_unknown_token(service.now(), address=client_address(request))
        except ThrottledError:
            refuse(Event.THROTTLED, detail="link")
            raise
        refuse(Event.TOKEN_REFUSED, detail="link")
        raise UnknownLinkError(field="token")
    return link


def begin_visit(service: Service, token: str, password: str, *, counts: bool = True) -> Login:
    """Open a visit by a link and return its session; see `library.links.open_visit`.

    Raises:
        UnknownLinkError: there is no such link, or it opens nothing any more.
        LoginError: the link has a password, and none was sent.
        InvalidCredentialsError: the password is wrong.
        ThrottledError: too many tokens or passwords were wrong, or the address begins too many visits.
        BusyError: too many passwords are checked at present.
    """
    link = find_shared(service, token)
    if not link.password_hash:
        return _open(link, counts=counts)
    if not password:
        raise LoginError("The link needs its password.", field="password")
    charges = [by_address(_PASSWORD_BY_ADDRESS, client_address(request)), Charge(_PASSWORD_BY_LINK, link.uid)]
    try:
        with service.throttle.guarded(service.now(), charges):
            _check_password(password, link)
    except InvalidCredentialsError:
        refuse(Event.LOGIN_REFUSED, detail=f"password of the link {link.uid}")
        raise
    except ThrottledError:
        refuse(Event.THROTTLED, detail=f"password of the link {link.uid}")
        raise
    return _open(link, counts=counts)


def count_upload(link_uid: str, user_id: int) -> None:
    """Count a request with files by a link; raise `ThrottledError` if its address or account sent too many."""
    try:
        with operating() as operation:
            _take(operation, _here(_UPLOADS_BY_ADDRESS, link_uid), "uploads")
            _take(operation, Charge(_UPLOADS_BY_ACCOUNT, str(user_id)), "uploads")
    except ThrottledError:
        refuse(Event.THROTTLED, detail=f"uploads by the link {link_uid}")
        raise


def _check_password(password: str, link: FoundLink) -> None:
    if not verify_password(password, link.password_hash):
        raise InvalidCredentialsError(field="password")


def _open(link: FoundLink, *, counts: bool) -> Login:
    try:
        with operating() as operation:
            _take(operation, _here(_VISITS_BY_ADDRESS, link.uid), "visits")
            return open_visit(operation, link, origin_of(request), counts=counts)
    except NotFoundError:
        raise UnknownLinkError(field="token") from None
    except ThrottledError:
        refuse(Event.THROTTLED, detail=f"visits of the link {link.uid}")
        raise


def _here(allowance: Allowance, link_uid: str) -> Charge:
    """Return the charge of a link and the address of the request together."""
    return Charge(allowance, f"{network_of(client_address(request))}:{link_uid}")


def _take(operation: Operation, charge: Charge, events: str) -> None:
    if wait := take(operation.session, charge, operation.now):
        raise ThrottledError(wait, events)
