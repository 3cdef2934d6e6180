"""The tie-break key of search rows: the id of a photo and the rank of one of its files, packed into one integer."""

from typing import NamedTuple

_RANK_BITS = 16
_LAST_RANK = (1 << _RANK_BITS) - 1


class FileKey(NamedTuple):
    """Orders files by photo id and, within a photo, from the primary file on.

    Both packed forms are 64-bit integers that hold the photo id in their upper 48 bits. Sort the ascending form
    (column `oldest_key`) upwards and the descending form (column `newest_key`) downwards: the photos then come in
    opposite orders, but the files of each photo in the same one. Files from rank 65,535 on share that rank.
    """

    photo_id: int
    rank: int
    """0 is the primary file."""

    def pack_ascending(self) -> int:
        """The value of `oldest_key`."""
        return self.photo_id << _RANK_BITS | min(self.rank, _LAST_RANK)

    def pack_descending(self) -> int:
        """The value of `newest_key`."""
        return self.photo_id << _RANK_BITS | _LAST_RANK - min(self.rank, _LAST_RANK)

    @staticmethod
    def unpack_photo_id(packed: int) -> int:
        """The photo id in either form."""
        return packed >> _RANK_BITS
