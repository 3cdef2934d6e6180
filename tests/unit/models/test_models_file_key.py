"""The tie-break key of search rows."""

from photosvc.models import FileKey

KEYS = [FileKey(photo_id, rank) for photo_id in (1, 2, 3) for rank in (0, 1, 65_534, 65_535)]


def test_packed_keys_have_these_values():
    assert FileKey(3, 2).pack_ascending() == 3 * 65_536 + 2
    assert FileKey(3, 2).pack_descending() == 3 * 65_536 + 65_533


def test_ascending_keys_sort_by_photo_then_by_rank():
    packed = [key.pack_ascending() for key in KEYS]
    assert packed == sorted(set(packed))


def test_descending_keys_sort_photos_backwards_and_the_files_of_each_by_rank():
    by_key = sorted(KEYS, key=FileKey.pack_descending, reverse=True)
    assert by_key == sorted(KEYS, key=lambda key: (-key.photo_id, key.rank))


def test_the_photo_id_comes_out_of_both_forms_whatever_the_rank():
    for key in (*KEYS, FileKey(2**40, 1_000_000)):
        assert FileKey.unpack_photo_id(key.pack_ascending()) == key.photo_id
        assert FileKey.unpack_photo_id(key.pack_descending()) == key.photo_id


def test_ranks_beyond_the_last_share_it():
    assert FileKey(1, 65_536).pack_ascending() == FileKey(1, 65_535).pack_ascending() == 2 * 65_536 - 1
