"""Names that belong together, and what tells them apart under a common new name."""

from photosvc.index.name_groups import grouped_names, suffix_of


def test_names_that_an_index_run_would_stack_are_one_group():
    for groups, alone in (
        ([["IMG_0001.HEIC", "IMG_E0001.jpg", "IMG_0001.MOV", "IMG_O0001.aae"], ["IMG_2.jpg"]], []),
        ([["a(1).jpg", "a-bearbeitet(1).jpg", "a.jpg(1).json"], ["a.jpg", "a.jpg.json"]], ["b.json", "metadata.json"]),
        ([["IMG_1_BURST001.jpg", "IMG_1_BURST002_COVER.jpg", "IMG_1_BURST001-edited.jpg"]], []),
        ([["GX010123.MP4", "GL010123.LRV", "GX010123.THM"], ["GX010124.MP4"]], []),
        ([["a.jpg", "a.sync-conflict-20240503-141233-ABCDEFG.jpg", "a.jpg.json"]], []),
        ([["PXL_1.MP.jpg", "PXL_1.MP"], ["a_HEVC.mov", "a.heic"], ["a_HEVC.jpg"]], []),
    ):
        found = grouped_names([name for group in groups for name in group] + alone)
        assert (found[0], found[1]) == (groups, alone), groups


def test_a_suffix_tells_edited_copies_and_frames_from_the_others():
    for name, suffix in (
        ("IMG_1.jpg", ""), ("IMG_E0001.jpg", "-edited"), ("a-bearbeitet(1).jpg", "-bearbeitet"), ("a(1).jpg", ""),
        ("IMG_1_BURST002_COVER.jpg", "_BURST002_COVER"), ("IMG_1_BURST001-edited.jpg", "_BURST001-edited"),
        ("a-b-edited.jpg", "-edited"), ("a (conflicted copy).jpg", "-edited"), ("a" * 43 + "-edi.jpg", "-edited"),
    ):  # fmt: skip
        assert suffix_of(name) == suffix, name
