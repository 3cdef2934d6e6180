"""Tabs and fields on tablets and phones in the languages that the tests of every commit leave out."""

import pytest

from tests.browser.cut_off import TABLET, assert_no_text_is_cut_off
from tests.browser.every_page import serve_every_page

pytestmark = pytest.mark.timeout(600)


def test_tabs_and_fields_show_all_of_their_texts_in_every_language(chromium, tmp_path):
    with serve_every_page(tmp_path) as (base, _):
        for locale in ("en-GB", "es-ES", "fr-FR"):
            for width in (390, 768):
                assert_no_text_is_cut_off(chromium, base, locale, TABLET | {"width": width})
