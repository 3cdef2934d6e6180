"""Simple strokes with Pillow: gradients, glows, ridges. Positions and lengths are shares of the picture, 0 to 1."""

import math
from itertools import pairwise
from random import Random

from PIL import Image, ImageColor, ImageDraw, ImageOps

Points = list[tuple[float, float]]


def gradient(size: tuple[int, int], *colors: str) -> Image.Image:
    """Draw a picture whose evenly spaced colours blend from top to bottom."""
    column = Image.new("RGB", (1, len(colors)))
    column.putdata([ImageColor.getrgb(color) for color in colors])
    smooth = column.resize((1, 64 * len(colors)), Image.Resampling.BICUBIC)
    return smooth.resize(size, Image.Resampling.BILINEAR)


def glow(image: Image.Image, x: float, y: float, radius: float, color: str, strength: float = 1.0) -> None:
    """Light around a point that fades out at `radius` (a share of the height)."""
    width, height = image.size
    reach = round(radius * height)
    rim = 181  # the value of Pillow's radial gradient at the middle of an edge
    falloff = [round(255 * strength * max(0, 1 - value / rim) ** 2) for value in range(256)]
    mask = Image.radial_gradient("L").point(falloff).resize((2 * reach, 2 * reach))
    light = Image.new("RGB", mask.size, color)
    image.paste(light, (round(x * width) - reach, round(y * height) - reach), mask)


def disc(image: Image.Image, x: float, y: float, radius: float, color: str) -> None:
    """Draw a filled circle; the radius is a share of the height."""
    width, height = image.size
    reach = radius * height
    box = (x * width - reach, y * height - reach, x * width + reach, y * height + reach)
    ImageDraw.Draw(image).ellipse(box, fill=color)


def ridge(random: Random, y: float, rise: float, roughness: float = 0.5) -> Points:
    """Draw a mountain line from the left edge to the right one, by midpoint displacement."""
    heights = [random.uniform(-rise, rise) / 2, random.uniform(-rise, rise) / 2]
    while len(heights) < 300:
        middles = [(a + b) / 2 + random.uniform(-rise, rise) for a, b in pairwise(heights)]
        heights = [value for pair in zip(heights, middles, strict=False) for value in pair] + heights[-1:]
        rise *= roughness
    return [(index / (len(heights) - 1), y - value) for index, value in enumerate(heights)]


def wave(y: float, rise: float, length: float, phase: float = 0.0) -> Points:
    """Draw a smooth line from the left edge to the right one."""
    return [(x / 200, y - rise * math.sin(2 * math.pi * (x / 200 / length + phase))) for x in range(201)]


def ground(image: Image.Image, line: Points, *colors: str) -> None:
    """Everything below a line, filled with a gradient from its highest point to the bottom."""
    area(image, [*line, (1, 1), (0, 1)], *colors)


def area(image: Image.Image, outline: Points, *colors: str) -> None:
    """Draw a polygon filled with a gradient from its highest point to its lowest."""
    width, height = image.size
    points = [(x * width, y * height) for x, y in outline]
    top, bottom = (round(extreme(y for _, y in points)) for extreme in (min, max))
    mask = Image.new("L", image.size)
    ImageDraw.Draw(mask).polygon(points, fill=255)
    fill = gradient((width, max(1, bottom - top)), *colors)
    image.paste(fill, (0, top), mask.crop((0, top, width, top + fill.height)))


def stars(image: Image.Image, random: Random, count: int, bottom: float) -> None:
    """Stars of several brightnesses above `bottom`."""
    for _ in range(count):
        light = random.randint(90, 255)
        disc(
            image,
            random.random(),
            random.random() * bottom,
            random.choice((4, 5, 6, 9)) / 10_000,
            f"rgb({light},{light},{light})",
        )


def reflection(image: Image.Image, horizon: float, tint: str, strength: float) -> None:
    """Turn everything below the horizon into still water that mirrors the upper part."""
    width, height = image.size
    line = round(horizon * height)
    depth = height - line
    above = ImageOps.flip(image.crop((0, max(0, line - depth), width, line))).resize((width, depth))
    image.paste(Image.blend(above, Image.new("RGB", above.size, tint), strength), (0, line))


def glitter(image: Image.Image, random: Random, x: float, horizon: float, color: str, count: int = 260) -> None:
    """Draw the reflection of a low sun or moon on water, wider towards the viewer."""
    width, height = image.size
    pen = ImageDraw.Draw(image)
    for _ in range(count):
        depth = random.random() ** 1.5
        y = horizon + 0.01 + depth * (0.98 - horizon)
        middle = x + random.gauss(0, 0.012 + 0.07 * depth)
        half = 0.003 + 0.02 * depth * random.random()
        box = ((middle - half) * width, y * height, (middle + half) * width, (y + 0.001 + 0.003 * depth) * height)
        pen.ellipse(box, fill=color)
