"""Recall and false pairs of look-alikes: `python -m bench.look_alikes FOLDER … [--subject FOLDER …]`.

The pictures are the photographs below these folders, a grid of parts of each, and drawn ones, 2,000 in all: noise
whose amplitude falls with its frequency, as in nature, half of it with a horizon. Parts with little detail, such as
skies, are left out. No photograph may be there twice or turned; each of 200 pictures is also compared with changed
copies of itself, saved as JPEG.

A pair of different pictures that is found is a false one, unless it is one of two kinds, which are counted apart:
parts of one photograph that share an area, and pictures of the folders after `--subject`, whose photographs all show
the same thing, such as a colour chart.
"""

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageEnhance, ImageFilter, ImageOps, ImageStat

from photosvc.library.look_alikes import MOST_BITS, MOST_TURNED_BITS, MOST_VERSION_BITS
from photosvc.media.looks import Versions, read_look, turned

PICTURES, CHANGED, LONGEST = 2000, 200, 240
#: Deviation of the grey levels that a blur takes away from a picture with detail.
DETAIL = 8.0


Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A photograph or a part of it, or a drawn picture."""

    picture: Image.Image
    source: str
    """Name of the photograph; empty for a drawn picture."""
    box: Box = (0, 0, 0, 0)
    of_subject: bool = False

    def kind_of_pair(self, other: "Piece") -> str:
        """Return how a pair of these pictures counts that was found."""
        if not self.source or not other.source:
            return "with drawn pictures"
        (left, top, right, bottom), (left_too, top_too, right_too, bottom_too) = self.box, other.box
        overlap = min(right, right_too) > max(left, left_too) and min(bottom, bottom_too) > max(top, top_too)
        if self.source == other.source and overlap:
            return "parts that share an area"
        return "of the subject" if self.of_subject and other.of_subject else "photographs"


def photographs(folders: Sequence[Path], *, of_subject: bool) -> Iterator[Piece]:
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if path.suffix.lower() not in {".jpg", ".jpeg", ".png", ".webp"}:
            continue
        try:
            with Image.open(path) as opened:
                opened.draft("RGB", (1600, 1600))
                whole = opened.convert("RGB")
        except OSError:
            continue
        for box in ((0, 0, *whole.size), *parts(whole.size)):
            part = small(whole.crop(box))
            if has_detail(part):
                yield Piece(part, str(path), box, of_subject)


def parts(size: tuple[int, int]) -> Iterator[Box]:
    width, height = size
    count = 4 if min(size) >= 900 else 2
    for row in range(count):
        for column in range(count):
            right, bottom = width * (column + 1) // count, height * (row + 1) // count
            yield width * column // count, height * row // count, right, bottom


def has_detail(picture: Image.Image) -> bool:
    grey = small(picture).convert("L")
    blurred = grey.filter(ImageFilter.GaussianBlur(12))
    rest = Image.blend(grey, ImageOps.invert(blurred), 0.5)
    return 2 * ImageStat.Stat(rest).stddev[0] >= DETAIL


def drawn(seed: int) -> Image.Image:
    draw = random.Random(seed)
    size = draw.choice([(240, 180), (180, 240), (240, 160)])
    picture = Image.new("RGB", size, tuple(draw.randrange(60, 200) for _ in range(3)))
    weight, cells = 0.8, 3
    while cells < 100:
        noise = bytes(draw.randrange(256) for _ in range(3 * cells * (cells + 1)))
        spots = Image.frombytes("RGB", (cells + 1, cells), noise).resize(size, Image.Resampling.BICUBIC)
        picture = Image.blend(picture, spots, weight)
        weight, cells = weight * 0.6, cells * 2
    if draw.random() < 0.5:
        sky = Image.new("L", size, 0)
        sky.paste(draw.randrange(80, 150), (0, 0, size[0], int(size[1] * draw.uniform(0.3, 0.7))))
        picture.paste(Image.new("RGB", size, (150, 180, 230)), mask=sky.filter(ImageFilter.GaussianBlur(3)))
    return picture


def small(picture: Image.Image) -> Image.Image:
    copy = picture.copy()
    copy.thumbnail((LONGEST, LONGEST))
    return copy


def cropped(left: float, top: float, right: float, bottom: float) -> Callable[[Image.Image], Image.Image]:
    def crop(one: Image.Image) -> Image.Image:
        width, height = one.size
        return one.crop(
            (round(width * left), round(height * top), round(width * (1 - right)), round(height * (1 - bottom)))
        )

    return crop


def straightened(degrees: float) -> Callable[[Image.Image], Image.Image]:
    def straighten(one: Image.Image) -> Image.Image:
        width, height = one.size
        angle = math.radians(abs(degrees))
        share = 1 / (math.cos(angle) + max(width / height, height / width) * math.sin(angle))
        x, y = width * (1 - share) / 2, height * (1 - share) / 2
        return one.rotate(degrees, Image.Resampling.BICUBIC).crop(
            (round(x), round(y), round(width - x), round(height - y))
        )

    return straighten


CHANGES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "a third of the size": lambda one: one.resize((one.width // 3, one.height // 3)),
    "brighter by 20 %": lambda one: ImageEnhance.Brightness(one).enhance(1.2),
    "darker by 20 %": lambda one: ImageEnhance.Brightness(one).enhance(0.8),
    "cropped by 2.5 % on each side": cropped(0.025, 0.025, 0.025, 0.025),
    "cropped by 5 % on each side": cropped(0.05, 0.05, 0.05, 0.05),
    "cropped by 5 % on the left": cropped(0.05, 0, 0, 0),
    "cropped by 5 % on the right and below": cropped(0, 0, 0.05, 0.05),
    "rotated by 1 degree, cropped": straightened(1),
    "rotated by 3 degrees, cropped": straightened(3),
    "rotated by -3 degrees, cropped": straightened(-3),
    "rotated by 3 degrees, black corners": lambda one: one.rotate(3, Image.Resampling.BICUBIC),
    "mirrored": ImageOps.mirror,
    "turned by 90 degrees": lambda one: one.transpose(Image.Transpose.ROTATE_90),
    "turned by 180 degrees": lambda one: one.transpose(Image.Transpose.ROTATE_180),
}


class Hashes:
    """The hashes of a picture."""

    def __init__(self, picture: Image.Image) -> None:
        look = read_look(picture)
        self.look, versions = look.whole, Versions.load(look.look_versions)
        self.changed = versions.changed if versions else ()
        self.turnable = versions.turnable if versions else 0
        self.turned = turned(self.turnable)

    def found(self, other: "Hashes") -> tuple[bool, bool]:
        """Return whether the other is found by the hashes alone, and by them or a version."""
        if self.look is None or other.look is None:
            return False, False
        if (self.look ^ other.look).bit_count() <= MOST_BITS:
            return True, True
        changed = (*((one, other.look) for one in self.changed), *((one, self.look) for one in other.changed))
        is_version = any((one ^ two).bit_count() <= MOST_VERSION_BITS for one, two in changed)
        is_turned = any((one ^ other.turnable).bit_count() <= MOST_TURNED_BITS for one in self.turned)
        return False, is_version or is_turned


def saved(picture: Image.Image) -> Image.Image:
    out = BytesIO()
    picture.save(out, "JPEG", quality=80)
    return Image.open(out).convert("RGB")


def milliseconds(work: Callable[[Image.Image], object], pictures: list[Image.Image]) -> float:
    began = time.process_time()
    for one in pictures:
        work(one)
    return (time.process_time() - began) / len(pictures) * 1000


def main(folders: Sequence[Path], subject: Sequence[Path]) -> None:
    pieces = [*photographs(folders, of_subject=False), *photographs(subject, of_subject=True)][:PICTURES]
    of_subject = sum(one.of_subject for one in pieces)
    drawn_ones = PICTURES - len(pieces)
    print(f"{len(pieces) - of_subject} photographs and parts of them, {of_subject} of one subject, {drawn_ones} drawn")
    pieces += [Piece(drawn(seed), "") for seed in range(drawn_ones)]
    pictures = [one.picture for one in pieces]
    sample = pictures[:: max(1, len(pictures) // 100)]
    print(f"{milliseconds(read_look, sample):.2f} ms a picture for its hash and those of its versions")
    hashes = [Hashes(one) for one in pictures]
    pairs, by_hash, in_all = Counter[str](), Counter[str](), Counter[str]()
    for at, (one, piece) in enumerate(zip(hashes, pieces, strict=True)):
        for other, piece_too in zip(hashes[:at], pieces[:at], strict=True):
            kind = piece.kind_of_pair(piece_too)
            pairs[kind] += 1
            found = one.found(other)
            by_hash[kind] += found[0]
            in_all[kind] += found[1]
    for kind, count in pairs.items():
        print(f"{kind:30} {count:9} pairs, found: {by_hash[kind]} by the hash, {in_all[kind]} in all")
    chosen = random.Random(1).sample(range(len(pictures)), CHANGED)
    for name, change in CHANGES.items():
        results = [hashes[at].found(Hashes(saved(change(pictures[at])))) for at in chosen]
        shares = [100 * sum(result[place] for result in results) / CHANGED for place in (0, 1)]
        print(f"{name:40} {shares[0]:5.1f} % by the hash, {shares[1]:5.1f} % in all")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--subject", nargs="*", type=Path, default=[])
    arguments = parser.parse_args()
    main(arguments.folders, arguments.subject)
