"""Pictures of the day: each function paints one, at the size it is given."""

import math
from random import Random

from PIL import Image, ImageDraw, ImageFilter

from tools.samples.brush import Points, area, disc, glow, gradient, ground, reflection, ridge, wave

Size = tuple[int, int]


def peaks(size: Size, random: Random) -> Image.Image:
    """Ranges behind ranges in the morning haze."""
    image = gradient(size, "#6f9fd8", "#b9d0ea", "#ffe3c7", "#ffd2a6")
    glow(image, 0.72, 0.42, 0.6, "#fff3d6")
    layers = [("#a9b8d6", "#d5d3df"), ("#7f95bd", "#b3bdd2"), ("#566f9c", "#8296b6"), ("#33486f", "#566b8d")]
    for index, (top, bottom) in enumerate(layers):
        ground(image, ridge(random, 0.42 + 0.12 * index, 0.16 - 0.025 * index, 0.48), top, bottom)
    ground(image, wave(0.93, 0.02, 0.9), "#1f3328", "#0f1d17")
    _firs(image, random, 0.95, 60)
    return image


def _firs(image: Image.Image, random: Random, base: float, count: int) -> None:
    for _ in range(count):
        x, height = random.random(), random.uniform(0.05, 0.13)
        for tier in range(4):
            top, half = base - height + tier * height / 5, height * (0.06 + 0.05 * tier)
            outline: Points = [(x, top), (x - half, top + height / 2.6), (x + half, top + height / 2.6)]
            area(image, outline, "#1d3a2c", "#0d1f17")


def beach(size: Size, random: Random) -> Image.Image:
    """Sand, three shades of sea, two clouds."""
    image = gradient(size, "#2f86d6", "#7cc0ee", "#d8eefa")
    for x, y in ((0.22, 0.18), (0.7, 0.11)):
        _cloud(image, random, x, y)
    ground(image, [(0, 0.46), (1, 0.46)], "#1273a8", "#29b6c5", "#7fe3d4")
    for index, y in enumerate((0.74, 0.765, 0.78)):
        ground(
            image,
            wave(y, 0.022, 0.8, 0.1 * index),
            *(("#eefdfa", "#eefdfa"), ("#a9ead9", "#a9ead9"), ("#f4e0b6", "#e3c48d"))[index],
        )
    return image.filter(ImageFilter.GaussianBlur(1))


def _cloud(image: Image.Image, random: Random, x: float, y: float) -> None:
    for _ in range(26):
        glow(image, x + random.gauss(0, 0.06), y + random.gauss(0, 0.018), random.uniform(0.05, 0.11), "#ffffff", 0.7)


def tulips(size: Size, random: Random) -> Image.Image:
    """Rows of tulips that run to the horizon, a few near ones in focus."""
    image = gradient(size, "#79b7ea", "#cfe7f7", "#f6f3e4")
    ground(image, ridge(random, 0.4, 0.012), "#5f7f5d", "#7ea35c")
    colors = ("#e5383b", "#ffb703", "#f15bb5", "#fb8500", "#9b5de5", "#ef476f", "#ffd166")
    for index in range(14):
        left, right = (0.5 + (edge - 6.5) * 0.25 for edge in (index - 0.5, index + 0.18))
        row: Points = [(0.5 + (left - 0.5) * 0.07, 0.42), (0.5 + (right - 0.5) * 0.07, 0.42), (right, 1), (left, 1)]
        color = colors[index % len(colors)]
        area(image, row, color, color)
    image = image.filter(ImageFilter.GaussianBlur(size[1] / 250))
    for _ in range(26):
        _tulip(image, random.random(), random.uniform(0.62, 0.86), random.uniform(0.03, 0.055), random.choice(colors))
    return image


def _tulip(image: Image.Image, x: float, y: float, half: float, color: str) -> None:
    stem = half * 0.08
    area(image, [(x - stem, y), (x + stem, y), (x + stem, 1), (x - stem, 1)], "#5b9a4b", "#2f6b33")
    wide = half * image.height / image.width
    cup: Points = [
        (x + wide * math.sin(t / 20 * math.pi), y - half * math.cos(t / 20 * math.pi) * 1.1) for t in range(5, 36)
    ]
    tips: Points = [
        (x - wide, y - half * 1.5),
        (x - wide / 2, y - half * 0.9),
        (x, y - half * 1.6),
        (x + wide / 2, y - half * 0.9),
        (x + wide, y - half * 1.5),
    ]
    area(image, [*cup, *tips], color, color, "#7a1f3d")


def waterfall(size: Size, random: Random) -> Image.Image:
    """Draw a white curtain between dark, mossy rocks; an upright picture."""
    image = gradient(size, "#dfe7ea", "#a9bcc4", "#5c6f74")
    ground(image, ridge(random, 0.2, 0.04), "#6f8f4e", "#33472f", "#1c2622")
    pen = ImageDraw.Draw(image, "RGBA")
    width, height = image.size
    for _ in range(420):
        x = random.gauss(0.5, 0.075) * width
        drift = random.gauss(0, 0.012) * width
        pen.line(
            (x, 0.2 * height, x + drift, 0.83 * height),
            fill=(240, 248, 250, random.randint(30, 120)),
            width=size[0] // 180,
        )
    image = image.filter(ImageFilter.GaussianBlur(size[0] / 400))
    for _ in range(34):
        glow(image, random.gauss(0.5, 0.17), random.uniform(0.8, 0.88), random.uniform(0.04, 0.1), "#eef5f6", 0.6)
    for side in (0.0, 1.0):
        ground(image, [(0, 0.97), (0.5, 0.99), (1, 0.97)], "#2a3a2b", "#141c16")
        disc(image, side, 1.0, 0.16, "#1e2a20")
    return image


def dunes(size: Size, random: Random) -> Image.Image:
    """Dunes with a lit and a shaded side; a panorama."""
    image = gradient(size, "#2a6fb5", "#79b3dd", "#e9dcc3")
    for index, (top, bottom) in enumerate((("#e2a05f", "#c97f43"), ("#dd8c47", "#a95d2c"), ("#cf7434", "#8a431d"))):
        y, phase = 0.5 + 0.15 * index, random.random()
        crest = [(x, py - 0.05 * math.sin(9 * x + index)) for x, py in wave(y, 0.09, 0.7 - 0.1 * index, phase)]
        ground(image, crest, top, bottom)
        shade = [
            (x, py + max(0.0, 0.2 * math.sin(2 * math.pi * (x / (0.7 - 0.1 * index) + phase) + 0.9))) for x, py in crest
        ]
        area(image, [*crest, *reversed(shade)], "#7d3c1c", "#5a2914")
    return image.filter(ImageFilter.GaussianBlur(1.5))


def balloons(size: Size, random: Random) -> Image.Image:
    """Hot-air balloons over a valley at sunrise."""
    image = gradient(size, "#5d7fc0", "#c9b4d4", "#ffd0a8", "#ffe6bd")
    glow(image, 0.3, 0.72, 0.35, "#fff4d0")
    for index, color in enumerate(("#c79a7d", "#a67358", "#6e4538")):
        ground(image, ridge(random, 0.76 + 0.08 * index, 0.04, 0.55), color, "#4a2d28")
    for x, y, radius, colors in (
        (0.62, 0.26, 0.12, ("#d62828", "#f77f00", "#fcbf49")),
        (0.25, 0.43, 0.07, ("#1d7874", "#f4c095", "#679289")),
        (0.83, 0.55, 0.045, ("#5f0f40", "#e36414", "#9a031e")),
        (0.42, 0.62, 0.03, ("#264653", "#2a9d8f", "#e9c46a")),
    ):
        _balloon(image, x, y, radius, colors)
    return image


def _balloon(image: Image.Image, x: float, y: float, radius: float, colors: tuple[str, ...]) -> None:
    wide = radius * image.height / image.width
    for stripe in range(6):
        share = 1 - stripe / 3
        skin = [(x + wide * share * math.sin(t / 12), y - radius * math.cos(t / 12)) for t in range(30)]
        area(image, [*skin, (x, y + radius * 1.25)], colors[stripe % 3], colors[stripe % 3])
    half = wide * 0.16
    basket: Points = [
        (x - half, y + radius * 1.4),
        (x + half, y + radius * 1.4),
        (x + half, y + radius * 1.62),
        (x - half, y + radius * 1.62),
    ]
    area(image, basket, "#6b4423", "#3e2713")


def autumn(size: Size, random: Random) -> Image.Image:
    """Draw a wood in October, mirrored in a pond."""
    image = gradient(size, "#8fb7d9", "#d9e6ea", "#e8d9bd")
    ground(image, ridge(random, 0.42, 0.05), "#8a6a4f", "#6a4f3b")
    colors = ("#c1121f", "#e85d04", "#f48c06", "#faa307", "#ffba08", "#9d0208", "#6a994e", "#bc6c25")
    for y in (0.44, 0.5, 0.56):
        for _ in range(90):
            disc(image, random.random(), y + random.gauss(0, 0.02), random.uniform(0.018, 0.045), random.choice(colors))
    image = image.filter(ImageFilter.GaussianBlur(size[1] / 300))
    reflection(image, 0.62, "#22333b", 0.35)
    return image
