"""What a worker does to make thumbnails: open the original or a larger thumbnail, decode once, render."""

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import BinaryIO

from PIL import Image

from photosvc.core.problems import Reason
from photosvc.core.values.orientation import followed_by
from photosvc.media.errors import DecodeError, UnsupportedFileError
from photosvc.media.formats import HEAD_SIZE, Format, sniff
from photosvc.media.pixels.decode import guarded
from photosvc.media.pixels.picture import Decoded
from photosvc.media.pixels.preview import open_shown
from photosvc.pictures.originals import open_original
from photosvc.pictures.thumbnails.geometry import Job, Target, needed_side
from photosvc.pictures.thumbnails.render import render


def make_thumbnails(job: Job) -> list[bytes]:
    """The encoded thumbnails, in the order of the job's targets.

    Raises:
        OriginalChangedError: the original is not as the library knows it, before or after it was decoded.
        OriginalUnreadableError: it cannot be read at present.
        DecodeError, UnsupportedFileError: it cannot be shown.
        MissingExtraError: its decoder is not installed.

    """
    if job.larger:
        # It may have been evicted meanwhile.
        with suppress(DecodeError), guarded(), Image.open(job.larger, formats=("JPEG",)) as picture:
            return render(picture, job.targets)
    with open_original(job.original) as file:
        row = sniff(file.read(HEAD_SIZE), job.original.name)
        if row is None or row.media_type == "sidecar":
            raise UnsupportedFileError(Reason.UNKNOWN_EXTENSION)
        return render_file(file, row, (job.original.width, job.original.height), job.targets)


def render_file(
    file: BinaryIO,
    row: Format,
    whole: tuple[int, int],
    targets: Sequence[Target],
    decoded: Decoded | None = None,
) -> list[bytes]:
    """The encoded thumbnails of an open file, in the order of `targets`.

    Args:
        file: open for reading.
        row: its format, as sniffed.
        whole: pixels of the upright picture; zeros when unknown.
        targets: at least one, all with the same turn.
        decoded: the picture, if it is decoded already; the file is then not read.

    Raises:
        DecodeError: it cannot be shown.
        MissingExtraError: its decoder is not installed.

    """
    opening = nullcontext(decoded) if decoded else open_shown(file, row, needed_side(whole, targets))
    with opening as (picture, orientation), guarded():
        return render(picture, targets, followed_by(orientation, targets[0].turn))
