"""The signed-in user of the host app as the principal of a request, where the host hands in a loader."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from flask import Request

from photosvc.auth import policy
from photosvc.auth.host_user import HostUser
from photosvc.auth.principal import HOST_USER, Principal
from photosvc.core.errors import SettingError
from photosvc.settings import Settings
from photosvc.web.requests.same_origin import OtherSiteError, is_own

#: Gives the user who is signed in to the host in the current request, or None.
PrincipalLoader: TypeAlias = Callable[[], HostUser | None]

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class HostUsers:
    """How a host app tells who is signed in, and for which actions of the policy that counts."""

    load: PrincipalLoader | None = None
    actions: frozenset[str] | None = None
    """None: all that the policy opens to users of hosts."""

    def principal(self, request: Request, action: str, settings: Settings, now: datetime) -> Principal | None:
        """Who is signed in to the host, if that counts for this action of the policy.

        Raises:
            TypeError: the loader gives something else.
            OtherSiteError: the request may come from a page of another site, which browsers send cookies along with.

        """
        if self.load is None or (self.actions is not None and action not in self.actions):
            return None
        user: object = self.load()
        if user is None:
            return None
        if not isinstance(user, HostUser):
            msg = f"principal_loader must give a photosvc.HostUser or None, not {type(user).__name__}"
            raise TypeError(msg)
        if _may_be_foreign(request, settings):
            raise OtherSiteError
        return user.principal(now)


def host_users(load: Any, actions: Collection[str] | None) -> HostUsers:  # noqa: ANN401 - what a host gave
    """The loader of a host and the actions that it counts for, checked.

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
    """Whether a page of another site can have made a browser send this request with the host's cookie.

    Browsers send no bearer token by themselves.
    """
    if request.method in _SAFE or (request.authorization is not None and request.authorization.type == "bearer"):
        return False
    return not is_own(request, settings.base_url)
