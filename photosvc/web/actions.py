"""The actions of the policy that an app's views require or decide on, and blueprints whose routes never redirect."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from flask import Blueprint, current_app, request

from photosvc.auth import policy

Args = ParamSpec("Args")
Answer = TypeVar("Answer")
View = TypeVar("View", bound=Callable[..., Any])
#: The attribute of a view that names the action of the policy it requires.
ACTION = "photosvc_action"
#: The attribute of a view that names further actions which it decides on by itself.
USES = "photosvc_uses"


class OwnBlueprint(Blueprint):
    """A blueprint that answers 404 to an address with doubled slashes, and whose routes also end in a slash.

    Werkzeug would redirect to the right address, at the same length and on the host that the request names.
    """

    def add_url_rule(self, rule: str, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as Flask has it
        """Add a rule that merges no slashes; the URL map is not changed, because it may be that of a host app."""
        super().add_url_rule(rule, *arguments, **{"merge_slashes": False, "strict_slashes": False, **options})


#: The attribute of a view that shows visitors of a public link, and guests, nothing but what is shared with them.
VISITORS = "photosvc_visitors"
#: The action of views that need no credential.
PUBLIC = "public"


def public(view: Callable[Args, Answer]) -> Callable[Args, Answer]:
    """Let a view run without a credential."""
    setattr(view, ACTION, PUBLIC)
    return view


def uses(*actions: str) -> Callable[[View], View]:
    """Declare that a view, or an app that it mounts, asks the policy about `actions` by itself."""
    if unknown := set(actions) - policy.RULES.keys():
        raise LookupError(f"the policy has no action {', '.join(sorted(unknown))}")

    def mark(view: View) -> View:
        setattr(view, USES, actions)
        return view

    return mark


def for_visitors(view: View) -> View:
    """Open a view to visitors of public links, and to guests: it limits itself to what is shared with them.

    Put it directly above the function. All other views refuse visitors, whatever the policy allows them.
    """
    setattr(view, VISITORS, True)
    return view


def is_for_visitors() -> bool:
    """Return whether the view of the current request is open to visitors of public links, and to guests."""
    view = current_app.view_functions.get(request.endpoint or "")
    return bool(getattr(view, VISITORS, False))


def required_action() -> str:
    """Return the action of the policy that the view of the current request requires; empty if none."""
    view = current_app.view_functions.get(request.endpoint or "")
    action: str = getattr(view, ACTION, PUBLIC)
    return "" if action == PUBLIC else action


def mounted_actions() -> frozenset[str]:
    """Return the actions of the policy that the routes of the current app use."""
    views = current_app.view_functions.values()
    required = {getattr(view, ACTION, PUBLIC) for view in views} - {PUBLIC}
    return frozenset(required).union(*(getattr(view, USES, ()) for view in views))


def is_mounted(action: str) -> bool:
    """Return whether a route of the current app uses `action` of the policy."""
    return action in mounted_actions()


def roles_of(action: str) -> frozenset[str]:
    """Return the roles whose users may do `action`; none when no route of the current app uses it."""
    return policy.RULES[action].roles if is_mounted(action) else frozenset()
