"""What the pages of Administration share: the password again after an hour, their navigation, and what was done."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec

from flask import Response, request, url_for

from photosvc.auth.errors import PasswordNeededError
from photosvc.auth.policy import check_recent_proof
from photosvc.core.errors import PhotosvcError
from photosvc.pages.administration.sections import sections_of
from photosvc.pages.errors import show_form
from photosvc.pages.layout import page, see_other
from photosvc.pages.signing_in.return_path import form_path
from photosvc.web.current import current_service
from photosvc.web.protector import principal

Args = ParamSpec("Args")

#: The value of a form for scopes that are typed.
TYPED: Final = "typed"
_READING: Final = frozenset({"GET", "HEAD"})


def administration_page(action: str) -> Callable[[Callable[Args, Response]], Callable[Args, Response]]:
    """Let a page open only for principals that the policy allows `action`, and who sent their password within the hour.

    Others send it on a page that leads back. The path's names for accounts are not `user_uid`: here none acts as the
    owner of an account.
    """

    def protect(view: Callable[Args, Response]) -> Callable[Args, Response]:
        @page(action)
        @wraps(view)
        def confirmed(*args: Args.args, **kwargs: Args.kwargs) -> Response:
            check_recent_proof(principal(), current_service().now())
            return view(*args, **kwargs)

        @wraps(confirmed)
        def leading(*args: Args.args, **kwargs: Args.kwargs) -> Response:
            try:
                return confirmed(*args, **kwargs)
            except PasswordNeededError:
                return _lead_to_confirmation()

        return leading

    return protect


def show_administration(
    template: str,
    section: str,
    *,
    error: PhotosvcError | None = None,
    told: dict[str, str] | None = None,
    **context: Any,  # noqa: ANN401 - what templates read
) -> Response:
    """A page made from `photosvc/administration/<template>.html`, within the frame of Administration.

    Args:
        template: its name.
        section: the endpoint of the part that the page belongs to.
        error: what is wrong with the form that was sent.
        told: the sentences for values of `done` in the address, to which forms lead after success.
        context: what the template reads.

    """
    return show_form(
        f"administration/{template}",
        error,
        sections=sections_of(principal()),
        here=section,
        done=(told or {}).get(request.args.get("done", ""), "") if error is None else "",
        now=current_service().now(),
        **context,
    )


def chosen_scope(form: dict[str, str]) -> str:
    """The scope that a form sends: one of the usual ones, or what was typed."""
    return form.get("scopes" if form.get("scope") == TYPED else "scope", "").strip()


def _lead_to_confirmation() -> Response:
    if request.method in _READING:
        return see_other(url_for(".confirm", next=f"{request.root_path}{request.full_path.removesuffix('?')}"))
    return see_other(url_for(".confirm", next=form_path(), unsent="1"))
