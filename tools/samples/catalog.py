"""The sample pictures: the subject, time, position and (invented) camera of each."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from random import Random

from PIL import Image

from tools.samples import landscapes, skies

LANDSCAPE, PORTRAIT, PANORAMA = (1600, 1067), (1067, 1600), (2400, 900)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One picture and the metadata of its file."""

    path: str
    """Relative to the folder of originals, with `/`."""
    paint: Callable[[tuple[int, int], Random], Image.Image]
    size: tuple[int, int]
    """Width and height of the upright picture in pixels."""
    taken: datetime
    lat: float
    lng: float
    altitude: int
    camera: tuple[str, str]
    lens: str
    iso: int
    f_number: float
    exposure: float
    """Seconds."""
    focal_length: int
    title: str
    description: str
    keywords: tuple[str, ...]
    rating: int = 0
    orientation: int = 1


def _at(hours: float, *date: int) -> datetime:
    year, month, day, hour, minute = date
    return datetime(year, month, day, hour, minute, tzinfo=timezone(timedelta(hours=hours)))


_EOS = ("Canon", "Canon EOS R6"), "RF24-105mm F4 L IS USM"
_NIKON = ("NIKON CORPORATION", "NIKON Z 6_2"), "NIKKOR Z 14-30mm f/4 S"
_SONY = ("SONY", "ILCE-7M4"), "FE 35mm F1.8"
_FUJI = ("FUJIFILM", "X-T4"), "XF16-55mmF2.8 R LM WR"
_PHONE = ("Apple", "iPhone 13"), "iPhone 13 back dual wide camera 5.1mm f/1.6"
_PIXEL = ("Google", "Pixel 7"), "Pixel 7 back camera 6.81mm f/1.85"


def _sample(
    path: str,
    paint: Callable[[tuple[int, int], Random], Image.Image],
    gear: tuple[tuple[str, str], str],
    taken: datetime,
    position: tuple[float, float, int],
    exposure: tuple[int, float, float, int],
    text: tuple[str, str, str],
    rating: int = 0,
    size: tuple[int, int] = LANDSCAPE,
    orientation: int = 1,
) -> Sample:
    lat, lng, altitude = position
    iso, f_number, seconds, focal_length = exposure
    title, description, keywords = text
    return Sample(
        path=path, paint=paint, size=size, taken=taken, lat=lat, lng=lng, altitude=altitude, camera=gear[0],
        lens=gear[1], iso=iso, f_number=f_number, exposure=seconds, focal_length=focal_length, title=title,
        description=description, keywords=tuple(keywords.split()), rating=rating, orientation=orientation,
    )  # fmt: skip


SAMPLES = (
    _sample(
        "2015/autumn-pond.jpg", landscapes.autumn, _EOS, _at(-4, 2015, 10, 11, 9, 42), (44.4759, -72.7007, 290),
        (200, 8.0, 1 / 125, 50),
        ("Pond in October", "Maples mirrored on a still morning.", "autumn forest reflection trees"), 4,
    ),
    _sample(
        "2016/river-skyline.jpg", skies.skyline, _FUJI, _at(-4, 2016, 6, 18, 21, 5), (40.7033, -73.9903, 4),
        (800, 4.0, 1 / 30, 35),
        ("Lights on the river", "Towers across the East River.", "city night skyline monochrome"), 5,
    ),
    _sample(
        "2017/moss-falls.jpg", landscapes.waterfall, _NIKON, _at(0, 2017, 8, 3, 14, 20), (63.5321, -19.5114, 35),
        (64, 11.0, 0.5, 24),
        ("Moss and white water", "A long exposure in the spray.", "waterfall water moss river"), 3, PORTRAIT,
    ),
    _sample(
        "2018/cape-beach.jpg", landscapes.beach, _PIXEL, _at(2, 2018, 1, 27, 11, 15), (-33.9509, 18.3774, 2),
        (50, 1.9, 1 / 2000, 24),
        ("Cold water, hot sand", "Too cold for a swim.", "beach sea summer clouds"), 2,
    ),
    _sample(
        "2019/island-sunset.jpg", skies.sunset, _SONY, _at(3, 2019, 9, 14, 19, 31), (36.4618, 25.3753, 140),
        (100, 5.6, 1 / 320, 35),
        ("Last light", "The sun meets the sea.", "sunset sea island evening"), 5,
    ),
    _sample(
        "2020/red-dunes.jpg", landscapes.dunes, _NIKON, _at(2, 2020, 2, 22, 7, 4), (-24.7275, 15.3417, 610),
        (100, 8.0, 1 / 250, 30),
        ("Red dunes", "The oldest desert, just after sunrise.", "desert dunes panorama sand"), 4, PANORAMA,
    ),
    _sample(
        "2021/tulip-rows.jpg", landscapes.tulips, _FUJI, _at(2, 2021, 4, 25, 16, 48), (52.2697, 4.5467, -2),
        (160, 2.8, 1 / 1600, 55),
        ("Rows of tulips", "Every colour in its row.", "flowers tulips spring field"), 3,
    ),
    _sample(
        "2022/valley-balloons.jpg", landscapes.balloons, _PHONE, _at(3, 2022, 5, 29, 5, 40), (38.6431, 34.8289, 1110),
        (80, 1.6, 1 / 240, 26),
        ("Balloons at dawn", "Four of a hundred.", "balloon sunrise valley travel"), 4, PORTRAIT, 6,
    ),
    _sample(
        "2022/granite-towers.jpg", landscapes.peaks, _EOS, _at(-3, 2022, 11, 30, 5, 52), (-50.9423, -72.9682, 870),
        (100, 9.0, 1 / 160, 70),
        ("Ranges in the haze", "First light from the lookout.", "mountains morning haze hiking"), 5,
    ),
    _sample(
        "2023/lake-stars.jpg", skies.night, _SONY, _at(12, 2023, 7, 17, 23, 50), (-44.0046, 170.4771, 715),
        (3200, 1.8, 15.0, 20),
        ("Stars over the lake", "The Milky Way in a dark-sky reserve.", "night stars lake milkyway"), 5,
    ),
    _sample(
        "2023/palm-lagoon.jpg", skies.lagoon, _PHONE, _at(12, 2023, 8, 2, 12, 34), (-16.8423, -179.9667, 1),
        (32, 1.6, 1 / 3200, 26),
        ("East of the date line", "A few steps from the 180th meridian.", "palm lagoon island beach"), 3,
    ),
    _sample(
        "2024/green-curtain.jpg", skies.aurora, _SONY, _at(1, 2024, 1, 15, 22, 18), (69.6492, 18.9553, 60),
        (1600, 1.8, 4.0, 20),
        ("Green curtain", "Ten minutes of northern lights.", "aurora night snow winter"), 4,
    ),
    _sample(
        "2024/lake-cone.jpg", skies.volcano, _FUJI, _at(9, 2024, 3, 31, 17, 40), (35.5171, 138.7518, 830),
        (160, 8.0, 1 / 200, 80),
        ("The cone", "Snow on top, a lake at its foot.", "mountain volcano lake snow"), 5,
    ),
    _sample(
        "2024/lake-cone.png", skies.volcano, _FUJI, _at(9, 2024, 3, 31, 17, 40), (35.5171, 138.7518, 830),
        (160, 8.0, 1 / 200, 80),
        ("The cone", "Snow on top, a lake at its foot.", "mountain volcano lake snow"), 5,
    ),
)  # fmt: skip
