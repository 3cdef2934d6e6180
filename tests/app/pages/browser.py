"""A browser without a window: it keeps cookies and sends what Chromium does with a navigation."""

import html
import re
from dataclasses import dataclass, field

from werkzeug.test import Client, TestResponse

from tests.helpers.api_client import PASSWORD, ApiClient

LOCAL = "http://localhost"
#: What browsers send when a page is opened by a typed address, and by a link or form of the page itself.
TYPED = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
OWN = {**TYPED, "Sec-Fetch-Site": "same-origin"}


@dataclass
class Browser:
    """Opens pages of a library; it is signed in once `sign_in` has succeeded."""

    api: ApiClient
    base: str = LOCAL
    address: str = "192.0.2.7"
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = self.api.library.app.test_client()

    def open(self, path: str, *, headers: dict[str, str] | None = None, method: str = "GET", **options) -> TestResponse:
        return self.client.open(
            path,
            base_url=self.base,
            method=method,
            headers=TYPED if headers is None else headers,
            environ_base={"REMOTE_ADDR": self.address},
            **options,
        )

    def send(self, path: str, form: dict[str, str], *, headers: dict[str, str] | None = None) -> TestResponse:
        sent = {"Origin": self.base, **OWN} if headers is None else headers
        return self.open(path, headers=sent, method="POST", data=form)

    def sign_in(self, name: str = "alice", password: str = PASSWORD, **form: str) -> TestResponse:
        return self.send("/sign-in", {"name": name, "password": password, **form})

    @property
    def cookies(self) -> dict[str, str]:
        """Name and value of all cookies of the session."""
        return {cookie.key: cookie.value for cookie in self.client._cookies.values()}

    @property
    def token(self) -> str:
        return next(iter(self.cookies.values()))


def text_of(answer: TestResponse) -> str:
    """What a person reads on a page."""
    body = re.sub(r"(?s)<(script|style|head)\b.*?</\1>", "", answer.text)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())
