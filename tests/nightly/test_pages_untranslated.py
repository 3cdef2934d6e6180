"""Every page in every language, in Chromium: no text, title, placeholder or label is left in English."""

import re

import pytest
from babel.messages.pofile import read_po

from photosvc.pages.language import FOLDER
from tests.browser.chromium import open_page
from tests.browser.every_page import ADMINISTRATION, PAGES, serve_every_page

pytestmark = pytest.mark.timeout(900)

#: Tags, and numbers before them: the texts around them are apart on a page.
_TAG = re.compile(r"%\(num\)s(?=<)|<[^>]*>")
TILE = ".tiles li[aria-posinset]"
#: All texts of a page that people see or hear; those that are marked as English, as data or as code are not.
TEXTS = """() => {
    const found = new Set();
    const foreign = "[lang]:not(html), [dir=auto], bdi, code, kbd, pre, script, style, svg:not([role])";
    const add = (text) => { if (/[a-z]{2}/i.test(text ?? "")) found.add(text.replace(/\\s+/g, " ").trim()); };
    add(document.title);
    for (const element of document.querySelectorAll("body *")) {
        if (element.closest(foreign)) continue;
        for (const name of ["title", "placeholder", "aria-label", "alt", "aria-valuetext"]) {
            add(element.getAttribute(name));
        }
        for (const node of element.childNodes) if (node.nodeType === 3) add(node.data);
    }
    return [...found];
}"""
#: Names and values of the library, of programs and of browsers.
DATA = re.compile(
    r"""(?x) .*\ ·\ photosvc | photosvc | alice | ann | vera | gus | [Ll]ake | at\ home | frame | test | photos\ read
    | (Canon\ )?EOS\ 5D | Canon | Natural\ Earth | [\d.,\s]+\ (km|mi|m|ft) | (:\ )?20\d\d[-/].*
    | IMG[_\ ]\d.* | \d+\.jpg | 2023.* | (SQLite|Chrom(e|ium)|HeadlessChrome|Python|Linux).* | UTC | [\w.-]+@[\w.-]+
    | lake,\ camera:leica,\ year:2023 | [a-z_]+:[\w:"-]* | [a-z0-9]{14,}
    | [\d.,\s%]+\ ?(B|kB|MB|GB|bytes|s|min|ms|h|mm|MP)
    """
)


def same_texts(language):
    """An expression of the texts that the catalogue of a language has as they are in English, such as `Labels`."""
    with (FOLDER / f"{language}.po").open("rb") as file:
        messages = [message for message in read_po(file, locale=language) if message.id]
    pairs = [
        pair
        for message in messages
        for pair in (
            zip(message.id, message.string, strict=True) if message.pluralizable else [(message.id, message.string)]
        )
    ]
    parts = {part.strip() for text, translated in pairs if text == translated for part in _TAG.split(text)}
    same = [re.sub(r"%\\\(\w+\\\)s", ".+", re.escape(part)) for part in parts if part]
    return re.compile("|".join(same))


def texts(page, address):
    page.goto(address, wait_until="networkidle")  # with what scripts add
    return page.evaluate(TEXTS)


def opened_texts(page, base):
    """The texts of dialogs, of the bar of selected photos and of the viewer with its panel."""
    page.goto(base)
    page.wait_for_selector(f"{TILE} img.here")
    page.locator(f"{TILE} a").first.focus()
    page.keyboard.press("x")
    page.wait_for_selector(".actions")  # the script takes keys itself from now on
    found = {}
    for key in ("?", "e", "l"):
        page.keyboard.press(key)
        page.wait_for_selector("dialog[open]")
        found[f"the dialog of {key}"] = page.evaluate(TEXTS)
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog[open]", state="detached")  # a dialog takes all keys
    page.keyboard.press("Escape")
    page.locator(f"{TILE} a").first.click()
    page.wait_for_selector(".pswp--ui-visible")
    page.keyboard.press("i")
    page.wait_for_selector(".panel [name=Title]")
    return {**found, "the viewer": page.evaluate(TEXTS)}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serve_every_page(tmp_path_factory.mktemp("languages")) as served:
        yield served


def collected(chromium, base, names, language, user, paths):
    """The texts of pages, by what they show."""
    with open_page(chromium, base, name=user, locale=language, expected="Failed to load resource") as page:
        found = {what: texts(page, base + path.format(**names)) for what, path in paths.items()}
        return {**found, **opened_texts(page, base)} if user == "alice" else found


@pytest.fixture(scope="module")
def english(chromium, served):
    """The texts of all pages in English."""
    base, names = served
    return {
        **collected(chromium, base, names, "en-GB", "alice", PAGES),
        **collected(chromium, base, names, "en-GB", "ann", ADMINISTRATION),
    }


@pytest.mark.parametrize("language", ["de-DE", "fr-FR", "es-ES"])
def test_no_page_has_english_texts_in_another_language(chromium, served, english, language):
    base, names = served
    found = {
        **collected(chromium, base, names, language, "alice", PAGES),
        **collected(chromium, base, names, language, "ann", ADMINISTRATION),
    }
    same = same_texts(language[:2])
    left = {
        (text, what)
        for what in found
        for text in {*found[what]} & {*english[what]}
        if not DATA.fullmatch(text) and not same.fullmatch(text.removesuffix(" ·"))
    }
    assert sorted(left) == []
