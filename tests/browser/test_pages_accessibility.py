"""Every page by axe-core: no violation, in both themes, on a phone and a desktop, with and without scripts."""

import re

import pytest

from tests.helpers.chromium import open_page
from tests.helpers.every_page import ADMINISTRATION, PAGES, PHOTOS, serve_every_page
from tests.helpers.programs.needed import package

pytestmark = [pytest.mark.slow(minutes=4), pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serve_every_page(tmp_path_factory.mktemp("axe")) as served:
        yield served


PHONE, DESKTOP = 390, 1280
HEIGHT = 844
#: The rules that depend on the theme.
COLORS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
#: Waits until a page has taken its new width and theme.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def check(page, what, widths=(PHONE, DESKTOP)):
    """Check a page in every width, by all rules in the light theme and its colours in the dark one."""
    axe = package("axe_playwright_python.sync_playwright").Axe()
    page.evaluate(axe.axe_script)
    for width in widths:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        for theme, rules in (("light", {}), ("dark", COLORS)):
            page.emulate_media(color_scheme=theme)
            page.evaluate(DRAWN)
            options = {"resultTypes": ["violations"], **rules}
            violations = page.evaluate("options => axe.run(document, options)", options)["violations"]
            found = [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in violations]
            assert found == [], f"{what}, {width} pixels, {theme}"


def leave_out_scripts(page):
    """Show pages as a browser without scripts does; this browser runs them because axe is one."""

    def strip(route):
        answer = route.fetch()
        body = re.sub(r"(?s)<script\b.*?</script>|</?noscript\b[^>]*>", "", answer.text())
        headers = {name: value for name, value in answer.headers.items() if not name.startswith("content-")}
        policy = answer.headers["content-security-policy"]
        route.fulfill(
            status=answer.status,
            headers={**headers, "content-security-policy": policy},
            content_type=answer.headers["content-type"],
            body=body,
        )

    page.route("**/*", lambda route: strip(route) if route.request.is_navigation_request() else route.fallback())


OPTIONS = {"width": PHONE, "height": HEIGHT, "expected": "Failed to load resource"}


def check_pages(page, base, names, **options):
    """Check the pages of users, and the one that signs in."""
    for what, path in PAGES.items():
        page.goto(base + path.format(**names))
        page.wait_for_load_state("networkidle")
        check(page, what, **options)
    page.context.clear_cookies()
    page.goto(f"{base}/sign-in")
    check(page, "sign-in", **options)


def check_administration(page, base, names, **options):
    for what, path in ADMINISTRATION.items():
        page.goto(base + path.format(**names))
        check(page, what, **options)


@pytest.mark.parametrize(("name", "check_all"), [("alice", check_pages), ("ann", check_administration)])
def test_no_page_has_a_violation(chromium, served, name, check_all):
    base, names = served
    with open_page(chromium, base, name=name, **OPTIONS) as page:
        check_all(page, base, names)


@pytest.mark.parametrize(("name", "check_all"), [("alice", check_pages), ("ann", check_administration)])
def test_no_page_without_scripts_has_a_violation(chromium, served, name, check_all):
    base, names = served
    with open_page(chromium, base, name=name, **OPTIONS) as page:
        leave_out_scripts(page)
        page.goto(f"{base}/")
        assert page.locator("script").count() == 0
        assert page.locator(".day .grid img").count() == PHOTOS
        check_all(page, base, names, widths=[PHONE])
