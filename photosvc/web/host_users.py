"""Users of a host app: a loader returns the signed-in user, who becomes the principal of a request."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from flask import Request

from photosvc.auth import policy
from photosvc.auth.principal import HOST_USER, HostUser, Principal
from photosvc.core.errors import SettingError
from photosvc.settings import Settings
from photosvc.web.browser_origin import OtherSiteError, changes, is_own

#: A function of the host app that returns the signed-in user of the current request, or None.
PrincipalLoader: TypeAlias = Callable[[], HostUser | None]


@dataclass(frozen=True, slots=True)
class HostUsers:
    """The loader of a host app's signed-in user, and the actions of the policy for which it counts."""

    load: PrincipalLoader | None = None
    actions: frozenset[str] | None = None
    """None: all actions that the policy opens to users of hosts."""

    def principal(self, request: Request, action: str, settings: Settings, now: datetime) -> Principal | None:
        """Return the user who is signed in to the host, if that counts for this action of the policy.

        Raises:
            TypeError: the loader returns something else.
            OtherSiteError: a page of another site may have caused the request, with which browsers send cookies too.
        """
        if self.load is None or (self.actions is not None and action not in self.actions):
            return None
        user: object = self.load()
        if user is None:
            return None
        if not isinstance(user, HostUser):
            raise TypeError(f"principal_loader must give a photosvc.HostUser or None, not {type(user).__name__}")
        if _may_be_foreign(request, settings):
            raise OtherSiteError
        return user.principal(now)


def host_users(load: Any, actions: Collection[str] | None) -> HostUsers:  # noqa: ANN401 - of the host's type
    """Check the loader of a host and the actions that it counts for, and return both.

    Raises:
        SettingError: an action does not exist or is not open to users of hosts.
    """
    if load is not None and not callable(load):
        msg = "principal_loader must be a function without arguments that gives a photosvc.HostUser or None"
        raise SettingError(msg, field="principal_loader")
    if actions is None:
        return HostUsers(load)
    if load is None:
        msg = "principal_actions says for which actions principal_loader counts: give both"
        raise SettingError(msg, field="principal_actions")
    for action in actions:
        if action not in policy.RULES or HOST_USER not in policy.RULES[action].kinds:
            msg = f'principal_actions: "{action}" is no action that users of a host app may have'
            raise SettingError(msg, field="principal_actions")
    return HostUsers(load, frozenset(actions))


def _may_be_foreign(request: Request, settings: Settings) -> bool:
    """Return whether a page of another site may have made a browser send this request with the host's cookie.

    Browsers send no bearer token by themselves.
    """
    if not changes(request) or (request.authorization is not None and request.authorization.type == "bearer"):
        return False
    return not is_own(request, settings.base_url)
