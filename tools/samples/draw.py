"""Draws the sample pictures into a folder: `python -m tools.samples.draw photosvc/samples/originals`.

The same version of Pillow draws the same bytes every time.
"""

import sys
from pathlib import Path
from random import Random

from PIL import Image, PngImagePlugin

from tools.samples.catalog import SAMPLES, Sample
from tools.samples.tags import exif, xmp

_PAINTED_LARGER = 2  # reduced afterwards, for smooth edges
_TURNED = {6: Image.Transpose.ROTATE_90}  # Exif orientation -> turn from the upright picture to the stored one


def draw(sample: Sample) -> Image.Image:
    """Draw the upright picture."""
    width, height = sample.size
    seed = sample.path.rpartition(".")[0]
    large = sample.paint((width * _PAINTED_LARGER, height * _PAINTED_LARGER), Random(seed))  # noqa: S311 - art
    return large.reduce(_PAINTED_LARGER)


def save(sample: Sample, folder: Path) -> Path:
    """Draw a sample and write it to its path in a folder of originals."""
    image = draw(sample)
    if sample.orientation in _TURNED:
        image = image.transpose(_TURNED[sample.orientation])
    path = folder / sample.path
    path.parent.mkdir(parents=True, exist_ok=True)
    tags = exif(sample, image.size)
    if path.suffix == ".png":
        text = PngImagePlugin.PngInfo()
        text.add_itxt("XML:com.adobe.xmp", xmp(sample).decode())
        image.quantize(128, dither=Image.Dither.NONE).save(path, exif=tags, pnginfo=text, optimize=True)
    else:
        image.save(path, quality=80, optimize=True, progressive=True, exif=tags, xmp=xmp(sample))
    return path


def main(folder: str) -> None:
    """Draw all samples."""
    for sample in SAMPLES:
        save(sample, Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
