"""Pictures of the evening and the night, of water and of cities: each function paints one."""

import math
from random import Random

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from tools.samples.brush import (
    Points,
    area,
    disc,
    glitter,
    glow,
    gradient,
    ground,
    reflection,
    ridge,
    stars,
    wave,
)

Size = tuple[int, int]


def sunset(size: Size, random: Random) -> Image.Image:
    """Draw the sun on the sea's edge, islands to the left."""
    image = gradient(size, "#27305f", "#7a3b73", "#e0604e", "#ffb45c")
    ground(image, [(0, 0.62), (1, 0.62)], "#d9704d", "#5b3566", "#1d2149")
    glow(image, 0.6, 0.6, 0.55, "#ffdf9a", 0.9)
    glitter(image, random, 0.6, 0.62, "#ffd98f")
    disc(image, 0.6, 0.585, 0.045, "#fff4cf")
    for edge, color in ((0.34, "#4b2c57"), (0.2, "#2c1d40")):
        line = [(x * edge, 0.62 - max(0, 0.62 - y) * (1 - x) ** 0.6) for x, y in ridge(random, 0.56, 0.04)]
        area(image, [*line, (edge, 0.62), (0, 0.62)], color, color)
    return image


def night(size: Size, random: Random) -> Image.Image:
    """Draw the Milky Way over a lake between mountains."""
    image = gradient(size, "#05081c", "#0d1740", "#26346d", "#56548c")
    for _ in range(170):
        along = random.random()
        x, y = 0.15 + 0.75 * along + random.gauss(0, 0.05), 0.02 + 0.62 * along + random.gauss(0, 0.06)
        glow(image, x, y, random.uniform(0.04, 0.12), random.choice(("#8d86c9", "#b7a4d6", "#6f7fc4")), 0.16)
    stars(image, random, 1500, 0.7)
    ground(image, ridge(random, 0.62, 0.08, 0.5), "#101735", "#0a0e22")
    reflection(image, 0.7, "#060a1c", 0.45)
    return image


def aurora(size: Size, random: Random) -> Image.Image:
    """Green curtains over snow."""
    image = gradient(size, "#050b1f", "#0a2036", "#15424c")
    stars(image, random, 700, 0.65)
    light = Image.new("RGB", size)
    pen = ImageDraw.Draw(light)
    width, height = size
    for band, (color, y) in enumerate((((40, 220, 130), 0.42), ((70, 235, 160), 0.5), ((150, 70, 190), 0.33))):
        phase = random.random() * 6
        for step in range(500):
            x = step / 500
            foot = y + 0.07 * math.sin(5 * x + phase) + 0.025 * math.sin(17 * x + band)
            share = 0.25 + 0.35 * (1 + math.sin(31 * x + phase) * math.sin(11 * x)) / 2
            shade = tuple(round(channel * share) for channel in color)
            pen.line(
                (x * width, (foot - 0.3 * share - 0.05) * height, x * width, foot * height),
                fill=shade,
                width=width // 400,
            )
    light = light.filter(ImageFilter.GaussianBlur(height / 45))
    image = ImageChops.add(image, light)
    ground(image, ridge(random, 0.7, 0.07, 0.5), "#1b3b4d", "#0c1c29")
    ground(image, wave(0.86, 0.02, 1.1), "#b6d4dc", "#6d93a5")
    return image


def skyline(size: Size, random: Random) -> Image.Image:
    """Towers on a river, in black and white."""
    image = gradient(size, "#2b2b2b", "#7a7a7a", "#d6d6d6")
    for shade, low, high in (("#8f8f8f", 0.16, 0.3), ("#5a5a5a", 0.1, 0.4), ("#2c2c2c", 0.06, 0.28)):
        x = -0.02
        while x < 1:
            wide, tall = random.uniform(0.025, 0.07), random.uniform(low, high)
            _tower(image, random, (x, 0.72 - tall, x + wide), shade)
            x += wide + random.uniform(0, 0.012)
    reflection(image, 0.72, "#3a3a3a", 0.5)
    lower = image.crop((0, round(0.72 * size[1]), *size)).filter(ImageFilter.BoxBlur(size[1] / 130))
    image.paste(lower, (0, round(0.72 * size[1])))
    return image.convert("L").convert("RGB")


def _tower(image: Image.Image, random: Random, box: tuple[float, float, float], shade: str) -> None:
    left, top, right = box
    area(image, [(left, top), (right, top), (right, 0.72), (left, 0.72)], shade, shade)
    if random.random() < 0.2:
        middle = (left + right) / 2
        area(image, [(middle, top - 0.07), (right - 0.01, top), (left + 0.01, top)], shade, shade)
    pen = ImageDraw.Draw(image)
    width, height = image.size
    for row in range(int((0.7 - top) / 0.016)):
        for column in range(int((right - left) / 0.008) - 1):
            if random.random() < 0.22:
                x, y = (left + 0.006 + column * 0.008) * width, (top + 0.012 + row * 0.016) * height
                pen.rectangle((x, y, x + 0.003 * width, y + 0.007 * height), fill="#e8e8e8")


def volcano(size: Size, random: Random) -> Image.Image:
    """Draw a snow-capped cone behind a lake, in a few flat colours."""
    image = gradient(size, "#f6c6c0", "#fbe3d2", "#fdf3e3")
    disc(image, 0.76, 0.26, 0.08, "#e4572e")
    slope: Points = [(0.5 + side * (0.035 + 0.5 * t**1.6), 0.24 + 0.42 * t) for side in (-1, 1) for t in _to(side)]
    area(image, slope, "#5b7fa6", "#7d9cbc", "#a9bfd2")
    cap: Points = [
        (0.5 + side * (0.035 + 0.5 * t**1.6), 0.24 + 0.42 * t) for side in (-1, 1) for t in _to(side) if t <= 0.3
    ]
    rim = [(0.585 - 0.17 * t / 12, 0.366 + (0.045 if t % 2 else -0.02)) for t in range(1, 12)]
    area(image, [*cap, *rim], "#ffffff", "#f4f7fb")
    ground(image, ridge(random, 0.645, 0.02), "#3f6b5c", "#2c4f47")
    reflection(image, 0.7, "#8fb3c4", 0.35)
    return image


def _to(side: int) -> list[float]:
    """Up the left slope, down the right one."""
    return [t / 20 for t in (range(20, -1, -1) if side < 0 else range(21))]


def lagoon(size: Size, random: Random) -> Image.Image:
    """Draw a palm over shallow water."""
    image = gradient(size, "#1f8fd0", "#8fd3f2", "#e6f7fb")
    ground(image, [(0, 0.5), (1, 0.5)], "#0f6ea0", "#19a7b8", "#73e0cf", "#d9f5df")
    area(
        image,
        [(x, y) for x, y in ridge(random, 0.47, 0.03) if x > 0.55] + [(1, 0.5), (0.55, 0.5)],
        "#2d6a4f",
        "#40916c",
    )
    ground(image, wave(0.9, 0.05, 1.6, 0.6), "#fbeec9", "#e9cf98")
    trunk: Points = [(0.16 + 0.16 * t * t, 0.98 - 0.62 * t) for t in _to(1)]
    area(
        image,
        [*trunk, *[(x + 0.016 - 0.006 * i / 20, y) for i, (x, y) in reversed(list(enumerate(trunk)))]],
        "#8a5a34",
        "#5b3a22",
    )
    for leaf in range(9):
        angle = math.pi * (0.08 + leaf * 0.23)
        spine = [(0.325 + 0.2 * t * math.cos(angle), 0.36 - 0.16 * t * math.sin(angle) + 0.2 * t * t) for t in _to(1)]
        back = [(x, y + 0.035 * math.sin(math.pi * min(1, i / 20))) for i, (x, y) in enumerate(spine)]
        area(image, [*spine, *reversed(back)], "#52b788", "#1b4332")
    return image
