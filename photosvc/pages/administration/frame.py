"""The frame of Administration: its navigation, its messages, and the password that it asks for again each hour."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec

from flask import Response, request, url_for

from photosvc.auth.errors import LoginError, PasswordNeededError, ThrottledError
from photosvc.auth.policy import check_recent_proof
from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.pages import wording
from photosvc.pages.errors import show_form
from photosvc.pages.forms import read_form
from photosvc.pages.layout import form_path, page, pages, safe_path, sections_of, see_other
from photosvc.web import own_account
from photosvc.web.protector import principal
from photosvc.web.service import current_service

Args = ParamSpec("Args")
#: The value of a form for a typed scope.
TYPED: Final = "typed"
_READING: Final = frozenset({"GET", "HEAD"})


def administration_page(action: str) -> Callable[[Callable[Args, Response]], Callable[Args, Response]]:
    """Open a page only to principals that the policy allows `action` and that sent their password within the hour.

    Without a recent password, lead to the page that asks for it and then leads back. Paths name an account `account`,
    not `user_uid`: in Administration nobody acts as the owner of an account.
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


def show_administration(template: str, section: str, **context: Any) -> Response:  # noqa: ANN401 - what templates read
    """Render `administration/<template>` as `show_form` does, with the navigation at the endpoint `section`."""
    frame: dict[str, Any] = {"sections": sections_of(principal()), "here": section, "done_texts": {}}
    words: dict[str, Any] = {"now": current_service().now(), "wording": wording, "size_text": wording.size_text}
    return show_form(f"administration/{template}", **{**frame, **words, **context})


def chosen_scope(form: dict[str, str]) -> str:
    """Return the scope of a form: a usual scope or a typed one."""
    return form.get("scopes" if form.get("scope") == TYPED else "scope", "").strip()


def _lead_to_confirmation() -> Response:
    if request.method in _READING:
        return see_other(url_for(".confirm", next=f"{request.root_path}{request.full_path.removesuffix('?')}"))
    return see_other(url_for(".confirm", next=form_path(), unsent="1"))


@pages.get("/administration/confirm", endpoint="confirm")
@page("session.confirm")
def show_confirm() -> Response:
    """Show the form for the password."""
    return _form(safe_path(request.args.get("next", "")), unsent=request.args.get("unsent") == "1")


@pages.post("/administration/confirm")
@page("session.confirm")
def send_password() -> Response:
    """Check the password, and lead back to the page that asked for it."""
    form = read_form()
    target = safe_path(form.get("next", ""))
    try:
        own_account.confirm_password(principal().user_uid or "", form.get("password", ""))
    except (InvalidValueError, LoginError, ThrottledError) as error:
        return _form(target, error)
    return see_other(target)


def _form(target: str, error: PhotosvcError | None = None, *, unsent: bool = False) -> Response:
    return show_form("administration/confirm", error, next=target, unsent=unsent)
