"""The contents of a picture or camera raw, decoded at most once, and the picture from which thumbnails are made."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, BinaryIO, Final

from PIL import Image

from photosvc.core.problems import Problem, Reason
from photosvc.media.colours import Colors, read_colors
from photosvc.media.containers import Embedded, read_embedded
from photosvc.media.decode import affordable, guarded, open_picture, read_header, scaled, size_of
from photosvc.media.errors import DecodeError
from photosvc.media.exif import Exif, read_exif
from photosvc.media.formats import Format
from photosvc.media.icc import profile_name
from photosvc.media.isobmff import is_whole
from photosvc.media.metadata import Metadata
from photosvc.media.perceptual_hash import PerceptualHash, hash_picture
from photosvc.media.video import read_poster
from photosvc.media.xmp_regions import upright

MAX_DISTORTION: Final = 0.02
# Enough pixels for the colours, and so few that a JPEG of a camera is decoded at an eighth of its size.
_COLOR_SIZE: Final = 240
_ANIMATED: Final = frozenset(("gif", "webp", "png", "avif"))
#: Frames of a damaged animation are counted by decoding them.
_MAX_DAMAGED_FRAMES: Final = 100
#: Formats of Pillow whose decoder scales down.
_SCALING: Final = frozenset(("JPEG", "MPO", "JPEG2000"))
#: A picture whose pixels are all decoded, and the Exif orientation (1 to 8) still to be applied to it.
Decoded = tuple[Image.Image, int]
#: The colours come from the embedded preview if its shorter side has this size and its aspect ratio is that of the
#: picture, within `MAX_DISTORTION`.
MIN_THUMBNAIL: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The contents of a picture file."""

    width: int = 0
    """Pixels of the upright picture."""
    height: int = 0
    orientation: int = 1
    frames: int = 0
    """More than one for an animation, else 0."""
    projection: str = ""
    color_profile: str = ""
    colors: Colors | None = None
    look: PerceptualHash = PerceptualHash()
    problem: Problem | None = None
    """The reason why it cannot be shown."""
    metadata: Metadata = Metadata()


def read_picture(
    source: BinaryIO, row: Format, *, decode: bool = True, keep: Callable[[Decoded], None] | None = None
) -> Picture:
    """Read all contents of a picture; if it cannot be decoded, its metadata, and the reason as `problem`.

    Args:
        decode: False reads only the metadata, without a decoder.
        keep: called with the decoded picture, unless the colours come from a smaller version of it.
    """
    embedded = read_embedded(source, row)
    picture = _from_metadata(embedded)
    if not decode:
        return picture
    try:
        with open_picture(source, row, header_only=True, longest=_COLOR_SIZE) as opened:
            whole = completed(embedded, opened, row)
            if whole is not embedded:
                embedded, picture = whole, _from_metadata(whole)
            picture = replace(picture, **_shape(opened, row, embedded.exif))
            shown = _checked(opened, source, row)
            small = _small(source, row, shown, embedded.exif)
            picture = replace(picture, colors=read_colors(small), look=hash_picture(small))
            if not picture.color_profile:  # the decoder of JPEG XL finds it together with the pixels
                picture = replace(picture, color_profile=profile_name(opened))
            if keep is not None and shown is opened and _is_decoded_whole(opened, row):
                keep((opened, orientation_to_apply(opened, row, embedded.exif)))
            return picture
    except DecodeError as error:
        return replace(picture, problem=error.problem)


def completed(embedded: Embedded, opened: Image.Image, row: Format) -> Embedded:
    """Complete the metadata by facts that only the decoder finds.

    It finds the Exif of the preview in a raw that is not a TIFF structure, and the orientation in the boxes of an AVIF.
    """
    is_empty = embedded.exif == Exif()
    if not is_empty and row.name != "avif":
        return embedded
    block = opened.info.get("exif")
    exif = read_exif(block if isinstance(block, bytes) else b"")
    return replace(embedded, exif=exif if is_empty else replace(embedded.exif, orientation=exif.orientation))


def orientation_to_apply(opened: Image.Image, row: Format, exif: Exif) -> int:
    """Return the Exif orientation to apply to the decoded pixels; 1 when the decoder has turned them already."""
    if "as_stored" not in opened.info and (row.name in ("heic", "jxl", "tiff") or "upright" in opened.info):
        return 1
    return exif.orientation


def _from_metadata(embedded: Embedded) -> Picture:
    exif, metadata = embedded.exif, embedded.metadata
    regions = tuple(upright(region, exif.orientation) for region in metadata.regions)
    width, height = exif.size[::-1] if exif.orientation >= 5 else exif.size
    return Picture(
        width=width,
        height=height,
        orientation=exif.orientation,
        projection=embedded.xmp.projection,
        metadata=replace(metadata, regions=regions),
    )


def _shape(opened: Image.Image, row: Format, exif: Exif) -> dict[str, Any]:
    width, height = opened.info.get("whole_size", opened.size)
    turned = orientation_to_apply(opened, row, exif) >= 5 and "whole_size" not in opened.info
    return {
        "width": height if turned else width,
        "height": width if turned else height,
        "orientation": opened.info.get("original_orientation") or exif.orientation,
        "frames": _frames(opened) if row.name in _ANIMATED else 0,
        "color_profile": profile_name(opened),
    }


def _frames(opened: Image.Image) -> int:
    """Return the number of frames of an animation, of a damaged one up to the damage; 0 for a still."""
    frames = 0
    try:
        with guarded():
            count = getattr(opened, "n_frames", 1) if getattr(opened, "is_animated", False) else 0
            return count if count > 1 else 0
    except DecodeError:
        with suppress(DecodeError), guarded():
            while frames < _MAX_DAMAGED_FRAMES:
                opened.seek(frames)
                frames += 1
    opened.seek(0)
    return frames if frames > 1 else 0


def _checked(opened: Image.Image, source: BinaryIO, row: Format) -> Image.Image:
    # The small preview at the front of a HEIC can be decoded even if the rest is missing.
    if row.name == "heic" and not is_whole(source, size_of(source)):
        raise DecodeError(Reason.TRUNCATED)
    return affordable(opened, source, row, _COLOR_SIZE)


def _small(source: BinaryIO, row: Format, opened: Image.Image, exif: Exif) -> Image.Image:
    """Return the upright picture, just large enough for its colours."""
    turn = orientation_to_apply(opened, row, exif)
    if exif.thumbnail and row.name == "jpg" and _is_whole_jpeg(source):
        try:
            with guarded(), read_header(BytesIO(exif.thumbnail), row) as thumbnail:
                if _is_usable(thumbnail.size, opened.size):
                    return scaled(thumbnail, _COLOR_SIZE, turn)
        except DecodeError:
            pass  # the picture itself may be intact
    return scaled(opened, _COLOR_SIZE, turn)


def _is_decoded_whole(opened: Image.Image, row: Format) -> bool:
    """Return whether the decode for the colours kept all pixels and would be the same for any larger size."""
    if opened.format is None:
        return row.media_type == "raw"  # developed; libvips gives pictures of the requested size
    return opened.format not in _SCALING and not opened.info.get("thumbnails")


def _is_usable(small: tuple[int, int], whole: tuple[int, int]) -> bool:
    """Return whether an embedded preview is large enough and has the aspect ratio of the picture."""
    distortion = abs(small[0] * whole[1] / (small[1] * whole[0]) - 1)
    return min(small) >= MIN_THUMBNAIL and max(small) <= 4096 and distortion <= MAX_DISTORTION


def _is_whole_jpeg(source: BinaryIO) -> bool:
    """Return whether the file ends with the end marker of JPEG, apart from zeros that some cameras append."""
    source.seek(max(0, size_of(source) - 4096))
    return source.read(4096).rstrip(b"\0").endswith(b"\xff\xd9")


@contextmanager
def open_shown(source: BinaryIO, row: Format, longest: int) -> Iterator[tuple[Image.Image, int]]:
    """Open a picture that shows the file, and yield it with the Exif orientation (1 to 8) still to be applied.

    A picture file opens with no pixel decoded yet; a camera raw opens as its embedded preview when that is large
    enough, else developed; a video as its first frame that shows something.

    Args:
        longest: pixels the longer side should have, if the file has as many.

    Raises:
        DecodeError: it cannot be shown; its `problem` has the reason.
        MissingExtraError: its decoder is not installed.
        PictureTooLargeError: it has more pixels than the limits.
    """
    if row.media_type == "video":
        yield read_poster(source, longest), 1
        return
    embedded = read_embedded(source, row)
    with open_picture(source, row, longest=longest) as picture:
        yield picture, orientation_to_apply(picture, row, completed(embedded, picture, row).exif)
