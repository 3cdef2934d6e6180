"""Texts that are wider than their places on a tablet or a phone."""

from tests.browser.chromium import open_page

TABLET = {"width": 768, "height": 1024, "has_touch": True}

#: Tabs that are cut off (on phones they scroll), and placeholders that are wider than their fields.
CUT_OFF = """() => {
    const pen = document.createElement("canvas").getContext("2d");
    const isCut = (field) => {
        const style = getComputedStyle(field);
        pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;  // `style.font` is empty
        return pen.measureText(field.placeholder).width
            > field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    };
    return [
        ...[...document.querySelectorAll(".crumbs a")]
            .filter((tab) => innerWidth > 699 && tab.getBoundingClientRect().right > innerWidth),
        ...[...document.querySelectorAll(".find input[placeholder], .search input[placeholder]")].filter(isCut),
    ].map((one) => one.textContent || one.placeholder);
}"""


def assert_no_text_is_cut_off(chromium, base, locale, screen):
    found = {}
    paths = ("/", "/places", "/albums", "/albums?type=month", "/people", "/folders", "/administration/accounts")
    with open_page(chromium, base, name="ann", locale=locale, **screen) as page:
        for path in paths:
            page.goto(base + path)
            found[path] = page.evaluate(CUT_OFF)
        page.goto(f"{base}/settings/account/two-factor")
        tops = {tab.bounding_box()["y"] for tab in page.locator(".crumbs a").all()}
        assert len(tops) == 1  # a row
    assert {path: texts for path, texts in found.items() if texts} == {}
