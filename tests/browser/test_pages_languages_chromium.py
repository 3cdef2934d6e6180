"""The scripts of the pages in the language of the page, in Chromium."""

import re
from pathlib import Path

import pytest

import photosvc.pages
from photosvc.pages.script_texts import _MEANT, _TEXTS
from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.slow
ASSETS = Path(photosvc.pages.__file__).with_name("assets")
TILE = ".tiles li[aria-posinset]"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a service with two photos."""
    with open_api(tmp_path_factory.mktemp("languages")) as api:
        for day in (1, 2):
            api.library.put(f"{day}.jpg", jpeg(300 + day, 200, exif=exif({}, {0x9003: f"2023:05:0{day} 10:00:00"})))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address


def test_every_text_that_scripts_ask_for_is_handed_over():
    named = set()
    for path in [*ASSETS.glob("grid/*.js"), *ASSETS.glob("places/*.js")]:
        for first in re.findall(r"\bt\(([^,()]*)", path.read_text("utf-8")):
            named |= set(re.findall(r'"(\w+)"', first))
        named |= set(re.findall(r'"(keys?[A-Z]\w+)"', path.read_text("utf-8")))
    assert len(named) > 100
    assert named - {*_TEXTS, *_MEANT} == set()


@pytest.mark.parametrize(
    ("locale", "day", "selected", "every", "keys"),
    [
        ("de-AT", "Dienstag, 2. Mai 2023", "1 ausgewählt", "Alle 2 dieser Suche", "Tasten"),
        ("es-ES", "martes, 2 de mayo de 2023", "1 seleccionada", "Las 2 de esta búsqueda", "Teclas"),
        ("fr-FR", "mardi 2 mai 2023", "1 sélectionnée", "Les 2 de cette recherche", "Touches"),
    ],
)
def test_the_grid_and_its_dialogs_speak_the_language_of_the_browser(chromium, base, locale, day, selected, every, keys):
    with open_page(chromium, base, locale=locale) as page:
        page.wait_for_selector(f"{TILE} img.here")
        assert page.locator(".tiles h2, main h2").first.text_content().startswith(day)
        page.locator(f"{TILE} a").first.focus()
        page.keyboard.press("x")
        assert page.locator(".actions .count").text_content() == selected
        assert page.locator(".actions .all").text_content() == every
        page.keyboard.press("?")
        assert page.locator("dialog h2").text_content() == keys


def test_a_chosen_language_comes_before_that_of_the_browser_in_scripts_too(chromium, base):
    with open_page(chromium, base, locale="en-US") as page:
        page.goto(f"{base}/settings/account")
        page.select_option("#language", "de")
        page.click("section:has(#language) button")
        page.goto(f"{base}/")
        page.wait_for_selector(f"{TILE} img.here")
        assert page.locator("main h2").first.text_content().startswith("Dienstag, 2. Mai 2023")
        page.locator(f"{TILE} a").first.click()
        page.wait_for_selector(".pswp--ui-visible")
        page.get_by_text("1 von 2", exact=True).wait_for()
