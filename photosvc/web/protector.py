"""The resource protector: token → principal → policy, before a view runs."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from flask import Request, g, request

from photosvc.auth import policy
from photosvc.auth.credentials import bearer, link_tokens, tokens
from photosvc.auth.errors import ExpiredTokenError, InvalidTokenError, LinkTokenError
from photosvc.auth.principal import Principal
from photosvc.core import ids
from photosvc.core.errors import InvalidValueError
from photosvc.web.actions import ACTION, required_action
from photosvc.web.current import Service, current_service
from photosvc.web.requests.client_address import client_address, origin_of
from photosvc.web.requests.same_origin import Place
from photosvc.web.sessions.session_cookie import PLACE, cookie_token

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
    """Gives no principal."""


def token_of(request: Request) -> str | None:
    """The token in `Authorization: Bearer`, `X-Auth-Token` or `X-Session-ID`; None when there is none.

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


def require(action: str, *, own: bool = False) -> Callable[[Callable[Args, Answer]], Callable[Args, Answer]]:
    """Let a view run only for principals that the policy allows `action`.

    The argument `user_uid` of a path names an account: some actions are open to its owner.

    Args:
        action: a key of the policy's rules.
        own: whether the view is about the account that the principal belongs to, which no path names.

    """
    if action not in policy.RULES:
        msg = f"the policy has no action {action}"
        raise LookupError(msg)

    def protect(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
        @wraps(view)
        def protected(*args: Args.args, **kwargs: Args.kwargs) -> Answer:
            owner_uid: Any = principal().user_uid if own else kwargs.get("user_uid")
            policy.decide(principal(), action, owner_uid=owner_uid)
            policy.check_proof(principal(), action, current_service().now(), owner_uid=owner_uid)
            return view(*args, **kwargs)

        setattr(protected, ACTION, action)
        return protected

    return protect


def require_link_token(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
    """Let a view run only with a preview or download token in its path, as `token`; headers are not looked at.

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
    setattr(protected, PLACE, Place.MEDIA)
    return protected


def _by_link(verify: Callable[..., Principal], token: str, action: str) -> None:
    """Let the principal that a link token names act in this request."""
    service = current_service()
    service.follow_key()
    try:
        with service.reading() as connection:
            who = verify(connection, service.settings, token, service.now(), _host_user)
    except InvalidTokenError:
        raise LinkTokenError from None
    g.photosvc_principal = who
    policy.decide(who, action)


def principal() -> Principal:
    """Who acts in this request.

    Raises:
        TokenRequiredError: the request has no token.
        InvalidTokenError: the token is unknown, revoked or expired.
        OtherSiteError: a page of others sent the request with the session cookie of the web page.

    """
    who: Principal | None = g.get("photosvc_principal")
    if who is None:
        service, token = current_service(), token_of(request)
        if token is not None:
            who = verify(service, token, _host_user if _may_be_the_hosts(request) else _no_principal)
        elif (token := cookie_token(request)) is not None:
            who = verify(service, token, _host_user)
        else:
            who = _host_user()
        if who is None:
            raise TokenRequiredError
        g.photosvc_principal = who
    return who


def commits() -> int | None:
    """The number of commits (`unchanged.Commits`) when the token of this request was checked, or now."""
    number: int | None = g.get("photosvc_commits")
    return current_service().commits.number() if number is None else number


def verify(service: Service, token: str, instead: Callable[[], Principal | None] = _no_principal) -> Principal:
    """The principal behind a token of this request; notes that it was used, or counts the failure.

    Args:
        service: of the app.
        token: what was shown.
        instead: asked who acts when the token is none of ours; None: no user.

    Raises:
        InvalidTokenError: the token is unknown, revoked or expired.
        ThrottledError: the address showed too many such tokens.

    """
    now = service.now()
    g.photosvc_commits = number = service.commits.number()
    digest = ids.digest(token)
    try:
        if (known := service.known_tokens.get(digest, number)) is None:
            with service.reading() as connection:
                known = tokens.read(connection, token)
        who = tokens.principal_of(known, now)
        if known is not None:
            service.known_tokens.put(digest, known, number)
    except ExpiredTokenError as error:
        expired = error.credential_id
        service.write_if_free(lambda session: bearer.delete_expired(session, expired))
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
    """The signed-in user of the host app, if that counts for the view of this request."""
    service = current_service()
    service.end_reading()  # the host may write: on SQLite, an open transaction of ours could block that
    return service.hosts.principal(request, required_action(), service.settings, service.now())


def _may_be_the_hosts(request: Request) -> bool:
    """Whether the token of a request may be one of the host app; ours alone has headers of its own."""
    return not any(request.environ.get(header) for header in _OWN_HEADERS)
