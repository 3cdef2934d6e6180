"""Names of cameras and lenses as their makers advertise them, and kinds of cameras."""

import re
from typing import Final

from photosvc.media.text import clean

# Makers as written in Exif, case folded -> the name on the camera, where the two differ.
_MAKES: Final = {
    "eastman kodak": "Kodak",
    "hewlett-packard": "HP",
    "seiko epson": "Epson",
    "konica minolta camera": "Konica Minolta",
    "lg electronics": "LG",
    "samsung techwin": "Samsung",
    "olympus imaging": "OLYMPUS",
    "olympus optical": "OLYMPUS",
    "om digital solutions": "OM SYSTEM",
    "ricoh imaging": "RICOH",
    "leica camera": "Leica",
}
# Kind of camera, and the makes and models of that kind; the first match wins. The API names the kinds in `CameraType`.
_TYPES: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE | re.ASCII))
    for kind, pattern in (
        ("scanner", r".*scan(ner|jet|snap)?\b|epson (perfection|gt-|expression)|canon canoscan|plustek|hp officejet"),
        ("film", r"noritsu|.*\bsp-?(500|2000|3000)\b|.*\bfrontier|.*pakon"),
        ("360-degree", r"insta360|.*\btheta\b|.*gear 360|gopro (max|fusion)"),
        ("action", r"gopro|.*\bosmo action|.*\bhdr-as|.*\bfdr-x|yi action"),
        ("instant", r"polaroid (snap|z\d|pop|now)|.*\binstax"),
        ("tablet", r"apple ipad|samsung (sm-[tpx]\d|gt-[pn]\d)|.*\b(tab|pad) ?[a-z]?\d"),
        ("phone", r"apple iphone|samsung (sm-|gt-|galaxy|sgh-|sch-)|google (pixel|nexus)|motorola|huawei|honor|xiaomi"),
        ("phone", r"redmi|poco|oneplus|oppo|vivo|realme|nokia|htc|lg |lge |blackberry|nothing|fairphone|.*\bxperia"),
        ("video", r"sony (hdr-|fdr-|dcr-|hxr-|pxw-)|canon (vixia|legria|xa\d|mvx)|.*camcorder|panasonic hc-|jvc"),
        ("body", r"canon eos|nikon (d\d|z ?\d|z ?f|1 )|sony (ilce|ilca|slt|dslr|nex|zv-e)|pentax (k|\*ist)|hasselblad"),
        (
            "body",
            r"fujifilm (x-?[tehsa]\d|x-pro|gfx|finepix s\dpro)|panasonic (dc-g|dc-s|dmc-g|dmc-l)|olympus e-|om system",
        ),
        ("body", r"leica (m|sl|s)|sigma (sd|fp|dp)|phase one|konica minolta (dynax|maxxum|alpha)"),
        ("compact", r"canon (powershot|ixus|digital ixus|ixy)|nikon (coolpix|e\d)|sony (dsc-|cybershot|fdmavica|zv-1)"),
        (
            "compact",
            r"fujifilm (finepix|x100|x\d|xf)|panasonic dmc-|olympus|kodak|casio|ricoh|hp |epson|minolta|samsung",
        ),
    )
)
_COMPANY = re.compile(r"[\s,.]+(?:corporation|corp|company|co|ltd|inc|ag|gmbh)\b[\s.,]*", re.IGNORECASE)
_NO_LENS: Final = frozenset(("", "n/a", "none", "unknown", "----", "0.0 mm f/0.0", "0 mm f/0"))


def make_name(written: str | bytes) -> str:
    """Return the maker without its legal form: `NIKON CORPORATION` is `NIKON`."""
    name = clean(written)
    while (shorter := _COMPANY.sub(" ", name).strip(" ,.")) != name and shorter:
        name = shorter
    return _MAKES.get(name.casefold(), name)


def model_name(written: str | bytes, make: str, written_make: str | bytes = b"") -> str:
    """Return the model without a leading maker: `Canon EOS RP` by `Canon` is `EOS RP`."""
    name = clean(written)
    for maker in (clean(written_make), make):
        if maker and name.casefold().startswith(maker.casefold() + " "):
            name = name[len(maker) + 1 :].lstrip()
    return name


def lens_name(written: str | bytes) -> str:
    """Return the lens as written, or an empty text for a placeholder that a camera without a lens writes."""
    name = clean(written)
    return "" if name.casefold() in _NO_LENS else name


def lens_of_range(limits: tuple[float | None, ...]) -> str:
    """Return a name made of the limits of a lens: `18-55mm f/3.5-5.6`; empty when a focal length is unknown.

    Args:
        limits: shortest and longest focal length, widest aperture at each (Exif 2.32, LensSpecification).
    """
    if len(limits) != 4 or not limits[0] or not limits[1]:
        return ""
    return clean(f"{_span(limits[0], limits[1])}mm" + _aperture(limits[2], limits[3]))


def _aperture(wide: float | None, tele: float | None) -> str:
    return f" f/{_span(wide, tele or wide)}" if wide else ""


def _span(low: float, high: float) -> str:
    return f"{round(low, 1):g}" if round(low, 1) == round(high, 1) else f"{round(low, 1):g}-{round(high, 1):g}"


def camera_type(make: str, model: str) -> str:
    """Return the kind of a camera (body, compact, phone, tablet, action, …); empty when unknown."""
    name = f"{make} {model}"
    return next((kind for kind, pattern in _TYPES if pattern.match(name)), "")
