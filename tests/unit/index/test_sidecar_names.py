import sys
import unicodedata
from itertools import permutations, product

from hypothesis import given
from hypothesis import strategies as st

from photosvc.index.sidecar_names import MOST_COMPANIONS, candidates, companions, confirms
from tests.helpers.examples import examples

LETTERS = "abcXYZ0189 _-.éß編é&"
STEMS = st.text(LETTERS, min_size=1, max_size=70).map(str.strip).filter(lambda stem: stem.strip("."))


def takeout_name(stem, extension, number, *, new):
    """The name that Google Takeout gives the sidecar of a picture; `number` tells pictures of one name apart."""
    name = unicodedata.normalize("NFC", stem + extension)
    name = (name + ".supplemental-metadata")[:46] if new else name[:46]
    return f"{name}{f'({number})' if number else ''}.json"


def used(folder, name, titles):
    """The sidecar that a file uses: the first that belongs to it."""
    found = companions(folder).get(name, ())
    return next((one for one in found if confirms(name, one, titles.get(one, ""))), None)


@given(
    stems=st.lists(STEMS, min_size=1, max_size=6, unique_by=lambda s: unicodedata.normalize("NFC", s).casefold()[:40]),
    data=st.data(),
)
@examples(100)
def test_every_picture_finds_the_sidecar_that_takeout_wrote_for_it_and_no_other(stems, data):
    own, titles = {}, {}
    for stem in stems:
        extension = data.draw(st.sampled_from([".jpg", ".JPG", ".heic", ".mp4", ".png"]))
        for number in data.draw(st.sampled_from([("",), ("", 1), (2, 3)])):
            name = f"{stem}{f'({number})' if number else ''}{extension}"
            sidecar = takeout_name(stem, extension, number, new=data.draw(st.booleans()))
            own[name], titles[sidecar] = sidecar, stem + extension
    other = {f"{stem}-other.png" for stem in stems if len(stem) < 30}
    folder = sorted({*own, *titles, *other})
    assert {name: used(folder, name, titles) for name in own} == own
    assert [name for name in other if name not in own and used(folder, name, titles)] == []


def test_pictures_of_one_long_name_and_title_keep_the_sidecars_with_their_numbers():
    for length in (42, 43, 44, 46, 47, 70):
        name = "n" * length
        own = {f"{name}{number}.jpg": f"{f'{name}.jpg'[:46]}{number}.json" for number in ("", "(1)", "(2)")}
        titles = dict.fromkeys(own.values(), f"{name}.jpg")
        folder = sorted({*own, *titles})
        assert {picture: used(folder, picture, titles) for picture in own} == own, length


def test_a_sidecar_is_found_under_each_of_its_names():
    for picture, sidecar in (
        ("IMG_1.jpg", "IMG_1.jpg.json"), ("IMG_1.jpg", "IMG_1.jpg.supplemental-metadata.json"),
        ("IMG_1.jpg", "IMG_1.json"),
        ("IMG_20200131_120000_portrait_long1.jpg", "IMG_20200131_120000_portrait_long1.jpg.supplem.json"),
        (f"{'n' * 41}.jpg", f"{'n' * 41}.jpg..json"),
        ("Screenshot_20220207_102421_com.snapchat.android.jpg", "Screenshot_20220207_102421_com.snapchat.androi.json"),
        ("a(1).jpg", "a.jpg(1).json"), ("a(1).jpg", "a(1).jpg.json"),
        ("a(1).jpg", "a.jpg.supplemental-metadata(1).json"), (f"{'n' * 50}(2).jpg", f"{'n' * 46}(2).json"),
        ("a-edited.jpg", "a.jpg.json"), ("a-bearbeitet.jpg", "a.jpg.supplemental-metadata.json"),
        (unicodedata.normalize("NFD", "a-modifié.jpg"), "a.jpg.json"), ("a-編集済み.jpg", "a.jpg.json"),
        ("a-ha editado.jpg", "a.jpg.json"), ("a-editado.jpg", "a.jpg.json"), ("a(1)-edited.jpg", "a.jpg(1).json"),
        ("a-edited(1).jpg", "a.jpg(1).json"), ("IMG_2.MP4", "IMG_2.HEIC.supplemental-metadata.json"),
        ("IMG_2(1).MOV", "IMG_2.HEIC(1).json"), ("PXL_3.MP", "PXL_3.MP.jpg.json"), ("a.cr2", "a.cr2.xmp"),
        ("a.cr2", "a.XMP"), ("A.JPG", "a.jpg.xmp"),
        (unicodedata.normalize("NFD", "é.jpg"), unicodedata.normalize("NFC", "é.jpg.xmp")),
        ("IMG_1234.HEIC", "IMG_1234.AAE"), ("IMG_1234.HEIC", "IMG_O1234.AAE"),
    ):  # fmt: skip
        assert companions([picture, sidecar]) == {picture: (sidecar,), sidecar: (picture,)}
    for picture, sidecar in (
        ("a.jpg", "b.jpg.json"), ("a.jpg", "a.jpg(1).json"), ("a(1).jpg", "a.jpg.json"), ("a(1).jpg", "a.jpg(2).json"),
        ("a.jpg", "a-edited.jpg.json"), ("a.jpg", "a.mp4.json"), ("-edited.jpg", ".jpg.json"),
        ("a.cr2", "a_01.cr2.xmp"), ("a.jpg", "a.jpg.txt"),
    ):  # fmt: skip
        assert companions([picture, sidecar]) == {}, (picture, sidecar)


def test_a_name_that_really_holds_a_number_comes_first_and_a_sidecar_of_raw_and_jpeg_belongs_to_both():
    found = companions(["a.jpg", "a(1).jpg", "a.jpg(1).json", "a(1).jpg.json"])
    assert found["a(1).jpg"] == ("a(1).jpg.json", "a.jpg(1).json")
    assert "a.jpg" not in found
    found = companions(["a.cr2", "a.jpg", "a.xmp", "a.jpg.xmp", "b.jpg"])
    assert found["a.xmp"] == ("a.cr2", "a.jpg")
    assert found["a.jpg"] == ("a.jpg.xmp", "a.xmp")


def test_the_title_decides_between_names_that_were_cut_alike():
    first, second = f"{'n' * 46}-1.jpg", f"{'n' * 46}-2.jpg"
    cut, numbered = f"{'n' * 46}.json", f"{'n' * 46}(1).json"
    titles = {cut: first, numbered: second}
    folder = [first, second, cut, numbered]
    assert (used(folder, first, titles), used(folder, second, titles)) == (cut, numbered)
    # Titles are compared without the characters that Takeout replaces.
    ends = {"-1.jpg": True, "-1": True, "_1.JPG": True, "&#39;1.jpg": True, "-12.jpg": False, "-2.jpg": False}
    assert {end: confirms(first, cut, "n" * 46 + end) for end in ends} == ends
    assert confirms(first, cut, "")
    assert confirms("a.jpg", "a.jpg.json", "something else")  # it was not cut
    # The name of the picture may have been cut too.
    assert confirms(f"{'n' * 47}.jpg", f"{'n' * 46}.json", f"{'n' * 60}.jpg")
    assert not confirms(f"{'n' * 46}m.jpg", f"{'n' * 46}.json", f"{'n' * 60}.jpg")


def test_a_sidecar_is_found_by_a_cut_name_and_a_title_without_extension():
    for picture, sidecar, title in (
        (f"{'😀' * 23}.jpg", f"{'😀' * 23}.json", f"{'😀' * 30}.jpg"),
        (f"a{'😀' * 23}.jpg", f"a{'😀' * 22}.json", f"a{'😀' * 30}.jpg"),
        ("🏖️ trip.jpg", "🏖️ trip.jpg.supplemental-metadata.json", "🏖️ trip.jpg"),
        (f"{'😀' * 9}.jpg", f"{f'{chr(0x1F600) * 9}.jpg.supplemental-metadata'[:37]}.json", f"{'😀' * 9}.jpg"),
        ("IMG_1.jpg", "IMG_1.json", "IMG_1"),
        ("IMG_1.jpg", "IMG_1.supplemental-metadata.json", "IMG_1"),
        ("IMG_1-edited.jpg", "IMG_1.supplemental-metadata.json", "IMG_1"),
        ("IMG_1-bearbeitet(2).jpg", "IMG_1.supplemental-metadata(2).json", "IMG_1"),
        (f"{'n' * 30}.jpg", f"{'n' * 30}.supplemental-me.json", "n" * 30),
        (f"{'n' * 47}.jpg", f"{'n' * 46}.json", "n" * 60),
        (f"{'n' * 43}-edi.jpg", f"{'n' * 43}.jp.json", f"{'n' * 43}.jpg"),
        (f"{'n' * 43}-edi.jpg", f"{'n' * 43}.su.json", "n" * 43),
        (f"{'n' * 42}-bear.jpg", f"{'n' * 42}.jpg.json", f"{'n' * 42}.jpg"),
    ):
        folder, titles = [picture, "other.jpg", sidecar], {sidecar: title}
        found = used(folder, picture, titles), used(folder, "other.jpg", titles)
        assert found == (sidecar, None), (picture, sidecar)


def test_names_in_a_hostile_folder_do_not_multiply():
    names = [f"{'n' * 60}{number}.jpg" for number in range(2 * MOST_COMPANIONS)]
    found = companions([*names, f"{'n' * 46}.json"])
    assert len(found[f"{'n' * 46}.json"]) == MOST_COMPANIONS
    assert all(len(candidates(f"{edited}-edited.MP4")) < 100 for edited in ("a", "(1)" * 80, "-edited" * 30))
    cases = ["".join(word) for word in product(*zip("abcdefghij", "ABCDEFGHIJ", strict=True))]
    found = companions([name + end for name in cases for end in (".jpg", ".jpg.xmp")])
    assert found == {one: (other,) for name in cases for one, other in permutations((f"{name}.jpg", f"{name}.jpg.xmp"))}


def test_names_that_differ_in_case_alone_have_sidecars_of_their_own():
    for folder, expected in (
        ("a.jpg A.jpg a.jpg.xmp A.jpg.xmp", {"a.jpg": "a.jpg.xmp", "A.jpg": "A.jpg.xmp"}),
        ("a.jpg A.jpg A.jpg.xmp", {"A.jpg": "A.jpg.xmp"}),
        ("a.jpg A.cr2 A.xmp", {"A.cr2": "A.xmp"}),
        ("a.jpg a.cr2 A.XMP", {"a.jpg": "A.XMP", "a.cr2": "A.XMP"}),
        ("a.jpg A.JPG.xmp a.jpg.xmp", {"a.jpg": "a.jpg.xmp"}),
        ("a.JPG a.jpg.json A.jpg.xmp", {"a.JPG": "A.jpg.xmp a.jpg.json"}),
    ):
        found = companions(folder.split())
        pictures = {name: " ".join(others) for name, others in found.items() if name[-3:].lower() in {"jpg", "cr2"}}
        assert pictures == expected, folder


def test_matching_takes_as_many_steps_for_each_file_of_a_larger_folder():
    def steps(count):
        names = [name for n in range(count) for name in (f"IMG {n}.jpg", f"IMG {n}.jpg.json")]
        calls = []
        sys.setprofile(lambda *_: calls.append(None))
        try:
            found = companions(names)
        finally:
            sys.setprofile(None)
        assert len(found) == 2 * count
        return len(calls) / count

    assert steps(800) < 1.1 * steps(100)
