"""The resource protector: token → principal → policy, before a view runs; and the session cookie of the web page.

The cookie contains the access token of a browser's login session. All other clients show a header; the cookie of a
request with such a header is ignored.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from flask import Request, g, request

from photosvc.auth import link_tokens, policy, tokens
from photosvc.auth.credentials import delete_credentials
from photosvc.auth.errors import ExpiredTokenError, InvalidTokenError, LinkTokenError
from photosvc.auth.principal import Principal
from photosvc.core import ids
from photosvc.core.accounts import GUEST, VISITOR, normal_name
from photosvc.core.errors import InvalidValueError, PermissionDeniedError
from photosvc.models import Credential
from photosvc.web.browser_origin import CookiePlace
from photosvc.web.contract import ACTION, ANONYMOUS, is_for_visitors, required_action
from photosvc.web.cookie import PLACE, cookie_token
from photosvc.web.proxies import client_address, origin_of
from photosvc.web.service import Service, current_service

Args = ParamSpec("Args")
Answer = TypeVar("Answer")
#: Names in the WSGI environ. A header that is sent twice is one value with a comma, which no token contains.
_OWN_HEADERS = ("HTTP_X_AUTH_TOKEN", "HTTP_X_SESSION_ID")
_MAX_TOKEN = 4096
#: Characters allowed around a value (RFC 9110 section 5.6.3); `str.strip` alone removes more.
_BLANKS = " \t"


class TwoTokensError(InvalidValueError):
    """The request shows two different tokens; send one."""

    def __init__(self) -> None:
        super().__init__("the request shows two different tokens; send one", field="Authorization")


class TokenRequiredError(InvalidTokenError):
    """An access token is needed: send it as `Authorization: Bearer …`."""

    shown = False


def _no_principal() -> None:
    """Return None: there is no principal."""


def token_of(request: Request) -> str | None:
    """Return the token in `Authorization: Bearer`, `X-Auth-Token` or `X-Session-ID`; None when there is none.

    Query strings are not read, because logs contain them (RFC 9700 section 4.3.2).

    Raises:
        TwoTokensError: the request has two different tokens (RFC 6750 section 2).
    """
    environ = request.environ
    tokens = {environ.get(header, "").strip(_BLANKS) for header in _OWN_HEADERS}
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").strip(_BLANKS).partition(" ")
    if scheme.lower() == "bearer":
        tokens.add(token.strip(_BLANKS))
    tokens.discard("")
    if len(tokens) > 1:
        raise TwoTokensError
    return next(iter(tokens), "")[:_MAX_TOKEN] or None


def is_own_account(identifier: str) -> bool:
    """Return whether a UID or name is that of the principal's account, as `auth.accounts.find_user` reads it."""
    who, key = principal(), normal_name(identifier)
    if who.user_id is None:  # a user of a host app
        return identifier == who.user_uid
    return key == (who.user_uid if ids.is_uid(key, ids.USER) else who.user_name)


def require(
    action: str, *, own: bool = False, anonymous: Callable[[], Any] | None = None
) -> Callable[[Callable[Args, Answer]], Callable[Args, Answer]]:
    """Let a view run only for principals that the policy allows `action`.

    The argument `user_uid` of a path names an account: some actions are open to its owner.

    Args:
        action: an action of the policy.
        own: whether the view is about the principal's own account, which no path names.
        anonymous: returns the answer to a request without a credential, in place of the error.
    """
    if action not in policy.RULES:
        raise LookupError(f"the policy has no action {action}")

    def protect(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
        @wraps(view)
        def protected(*args: Args.args, **kwargs: Args.kwargs) -> Answer:
            if anonymous is not None and _is_anonymous():
                return cast("Answer", anonymous())
            is_own = own or is_own_account(str(kwargs.get("user_uid", "")))
            owner_uid = principal().user_uid if is_own else None
            policy.decide(principal(), action, owner_uid=owner_uid)
            policy.check_proof(principal(), action, current_service().now(), owner_uid=owner_uid)
            return view(*args, **kwargs)

        setattr(protected, ACTION, action)
        setattr(protected, ANONYMOUS, anonymous is not None)
        return protected

    return protect


def _is_anonymous() -> bool:
    """Return whether the request has no credential; raise `InvalidTokenError` for one that is not valid."""
    try:
        principal()
    except TokenRequiredError:
        return True
    return False


def require_link_token(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
    """Let a view run only with a preview or download token in its path, as `token`; headers are not read.

    The view raises `LinkTokenError` for a token that opens nothing.
    """

    @wraps(view)
    def protected(*args: Args.args, **kwargs: Args.kwargs) -> Answer:
        _by_link(link_tokens.verify_any, str(kwargs["token"]), "photos.preview")
        return view(*args, **kwargs)

    setattr(protected, ACTION, "photos.preview")
    return protected


def require_download(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
    """Let a view run only with a download token in the query string, as `t`, or else with an access token.

    The view raises `LinkTokenError` for a token `t` that opens nothing.
    """

    @wraps(view)
    def protected(*args: Args.args, **kwargs: Args.kwargs) -> Answer:
        token = request.args.get("t")
        if token:
            _by_link(link_tokens.verify_download, token, "photos.download")
        else:
            policy.decide(principal(), "photos.download")
        return view(*args, **kwargs)

    setattr(protected, ACTION, "photos.download")
    setattr(protected, PLACE, CookiePlace.MEDIA)
    return protected


def _by_link(verify: Callable[..., Principal], token: str, action: str) -> None:
    """Let the principal of a link token act in this request."""
    service = current_service()
    service.follow_key()
    try:
        with service.reading() as connection:
            who = verify(connection, service.settings, token, service.now(), _host_user)
    except InvalidTokenError:
        raise LinkTokenError from None
    admit(who)
    g.photosvc_principal = who
    policy.decide(who, action)


def principal() -> Principal:
    """Return the principal of this request.

    Raises:
        TokenRequiredError: the request has no token.
        InvalidTokenError: the token is unknown, revoked or expired.
        OtherSiteError: a page of another site sent the request with the session cookie of the web page.
        PermissionDeniedError: the token is that of a visitor, and the view is not made for visitors.
    """
    who: Principal | None = g.get("photosvc_principal")
    if who is None:
        service, token = current_service(), token_of(request)
        if token is not None:
            # The token may belong to the host app; photosvc's own headers only carry its own tokens.
            is_ours = any(request.environ.get(header) for header in _OWN_HEADERS)
            who = verify(service, token, _no_principal if is_ours else _host_user)
        elif (token := cookie_token(request)) is not None:
            who = verify(service, token, _host_user)
        else:
            who = _host_user()
        if who is None:
            raise TokenRequiredError
        admit(who)
        begin_as(who)
    return who


def begin_as(who: Principal) -> None:
    """Let this principal make the request, and take the request's place at the admission gate.

    Requests with the token of a link take none: their answers are short, or have places of their own.

    Raises:
        NotAdmittedError: the account has too many requests in progress.
    """
    g.photosvc_principal = who
    current_service().enter(who.owner_uid)


def admit(who: Principal) -> None:
    """Refuse visitors of a public link, and guests, unless the view of this request is made for them.

    Raises:
        PermissionDeniedError: it is not.
    """
    if who.shared is not None and not is_for_visitors() and not _is_about_accounts(who):
        g.photosvc_refused = who  # for the security log alone: it is no principal of this request
        raise PermissionDeniedError


def _is_about_accounts(who: Principal) -> bool:
    """Return whether a guest asks for a view that shows no photos, such as that of the own account.

    All actions that visitors may do show photos, unless they write.
    """
    rule = policy.RULES.get(required_action())
    return rule is not None and who.role == GUEST and (rule.write or VISITOR not in rule.roles)


def verify(service: Service, token: str, instead: Callable[[], Principal | None] = _no_principal) -> Principal:
    """Return the principal of a token of this request; note its use, or count the failure.

    Args:
        instead: returns the principal if the token is not one of photosvc, or None.

    Raises:
        InvalidTokenError: the token is unknown, revoked or expired.
        ThrottledError: the address showed too many such tokens.
    """
    now = service.now()
    try:
        with service.reading() as connection:
            who = tokens.verify(connection, token, now)
    except ExpiredTokenError as error:
        expired = error.credential_id  # deleted: it must not become valid if the clock is set back
        service.write_if_free(lambda session: delete_credentials(session, Credential.id == expired))
        raise
    except InvalidTokenError:
        if (other := instead()) is not None:
            return other
        service.throttle.count_unknown_token(now, address=client_address(request))
        raise
    if tokens.needs_touch(who, now):
        service.write_if_free(lambda session: tokens.touch(session, who, now, origin_of(request)))
    return who


def _host_user() -> Principal | None:
    """Return the signed-in user of the host app if that counts for the view of this request."""
    service = current_service()
    service.end_reading()  # the host may write: on SQLite, an open transaction of photosvc could block it
    return service.hosts.principal(request, required_action(), service.settings, service.now())
