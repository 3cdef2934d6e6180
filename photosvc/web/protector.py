"""The resource protector: token → principal → policy, before a view runs."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from flask import current_app, g, request

from photosvc.auth import policy
from photosvc.auth.credentials import bearer, link_tokens, tokens
from photosvc.auth.errors import ExpiredTokenError, InvalidTokenError, LinkTokenError
from photosvc.auth.principal import Principal
from photosvc.web.authorization import token_of
from photosvc.web.current import Service, current_service

Args = ParamSpec("Args")
Answer = TypeVar("Answer")
View = TypeVar("View", bound=Callable[..., Any])

#: The attribute of a view that names the action of the policy it requires.
ACTION = "photosvc_action"
#: The action of views that need no credential.
PUBLIC = "public"
#: The attribute of a view that names further actions which it decides on by itself.
USES = "photosvc_uses"


class TokenRequiredError(InvalidTokenError):
    """An access token is needed: send it as `Authorization: Bearer …`."""


def require(action: str) -> Callable[[Callable[Args, Answer]], Callable[Args, Answer]]:
    """Let a view run only for principals that the policy allows `action`.

    The argument `user_uid` of a path names an account: some actions are open to its owner.
    """
    if action not in policy.RULES:
        msg = f"the policy has no action {action}"
        raise LookupError(msg)

    def protect(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
        @wraps(view)
        def protected(*args: Args.args, **kwargs: Args.kwargs) -> Answer:
            owner_uid: Any = kwargs.get("user_uid")
            policy.decide(principal(), action, owner_uid=owner_uid)
            return view(*args, **kwargs)

        setattr(protected, ACTION, action)
        return protected

    return protect


def require_preview(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
    """Let a view run only with the preview token in its path, as `token`; headers are not looked at.

    The view raises `LinkTokenError` for a token that opens nothing.
    """

    @wraps(view)
    def protected(*args: Args.args, **kwargs: Args.kwargs) -> Answer:
        _by_link(link_tokens.verify_preview, str(kwargs["token"]), "photos.preview")
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
    return protected


def _by_link(verify: Callable[..., Principal], token: str, action: str) -> None:
    """Let the principal that a link token names act in this request."""
    service = current_service()
    try:
        with service.reading() as connection:
            who = verify(connection, service.settings, token, service.now())
    except InvalidTokenError:
        raise LinkTokenError from None
    policy.decide(who, action)
    g.photosvc_principal = who


def public(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
    """Let a view run without a credential."""
    setattr(view, ACTION, PUBLIC)
    return view


def uses(*actions: str) -> Callable[[View], View]:
    """Say that a view, or what it mounts, asks the policy about `actions` by itself."""
    if unknown := set(actions) - policy.RULES.keys():
        msg = f"the policy has no action {', '.join(sorted(unknown))}"
        raise LookupError(msg)

    def mark(view: View) -> View:
        setattr(view, USES, actions)
        return view

    return mark


def mounted_actions() -> frozenset[str]:
    """The actions of the policy that the routes of the current app use."""
    views = current_app.view_functions.values()
    required = {getattr(view, ACTION, PUBLIC) for view in views} - {PUBLIC}
    return frozenset(required).union(*(getattr(view, USES, ()) for view in views))


def is_mounted(action: str) -> bool:
    """Whether a route of the current app uses `action` of the policy."""
    return action in mounted_actions()


def principal() -> Principal:
    """Who acts in this request.

    Raises:
        TokenRequiredError: the request has no token.
        InvalidTokenError: the token is unknown, revoked or expired.

    """
    who: Principal | None = g.get("photosvc_principal")
    if who is None:
        g.photosvc_principal = who = _verify(current_service())
    return who


def _verify(service: Service) -> Principal:
    token = token_of(request)
    if token is None:
        raise TokenRequiredError
    now = service.now()
    address = request.remote_addr or ""
    try:
        with service.reading() as connection:
            who = tokens.verify(connection, token, now)
    except ExpiredTokenError as error:
        expired = error.credential_id
        service.write_if_free(lambda session: bearer.delete_expired(session, expired))
        raise
    except InvalidTokenError:
        service.throttle.count_unknown_token(now, address=address)
        raise
    if tokens.needs_touch(who, now):
        service.write_if_free(lambda session: tokens.touch(session, who, now, address=address))
    return who
