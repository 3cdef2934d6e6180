"""Words inside of texts in scripts that are written without blanks."""

import pytest

from photosvc.media.metadata import Metadata
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import new_extraction, store_extractions

TITLES = {
    "burmese.jpg": "ရန်ကုန်မြို့",
    "chinese.jpg": "美丽的大海",
    "khmer.jpg": "ទីក្រុងភ្នំពេញ",
    "lao.jpg": "ນະຄອນຫຼວງວຽງຈັນ",
    "thai.jpg": "ทะเลสวยที่ภูเก็ต",
    "armenian.jpg": "Արև և ծով",
}
BURMESE, CHINESE, KHMER, LAO, THAI, ARMENIAN = TITLES


@pytest.fixture(scope="module")
def library(new_library):
    library = new_library()
    with library.session() as session:
        photos = [
            (name, new_extraction(number, metadata=Metadata(title=title)))
            for number, (name, title) in enumerate(TITLES.items())
        ]
        store_extractions(session, photos, NOW)
    return library


def test_a_word_is_found_inside_of_a_text_without_blanks(library):
    for query, names in (
        ("ทะเล", [THAI]),
        ("สวย", [THAI]),
        ("ภูเก็ต", [THAI]),
        ("เล", [THAI]),
        ("สวยทะเล", []),
        ("title:ทะเล", [THAI]),
        ('"ทะเลสวย"', [THAI]),
        ("ວຽງຈັນ", [LAO]),
        ("ភ្នំពេញ", [KHMER]),
        ("မြို့", [BURMESE]),
        ("大海", [CHINESE]),
        ("արեւ", [ARMENIAN]),
        ("ԱՐԵՒ", [ARMENIAN]),
    ):
        found = library.find(token=library.token(role="admin"), q=query)
        assert [record["FileName"] for record in found] == names, query
