"""The names of sidecars that belong to the name of a file, and of the files that belong to a sidecar.

The names in a folder alone tell which sidecars a file may have. XMP and ExifTool append to the name of the picture or
replace its extension, as PhotoPrism does. Google Takeout cuts names, moves numbers and gives edited copies and the
videos of live photos no sidecar of their own; so the names of the sidecars are computed from the name of the picture,
never the reverse.
"""

import html
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

#: Extensions of the sidecars that are read.
READ: Final = (".xmp", ".json", ".yml", ".aae")
#: UTF-16 units that Takeout leaves of a name, without a number and the extension `.json`.
CUT: Final = 46
_SUPPLEMENTAL: Final = ".supplemental-metadata"
_OF_GOOGLE: Final = tuple(
    unicodedata.normalize("NFC", suffix)
    for suffix in (
        "-edited", "-effects", "-smile", "-mix", "-bearbeitet", "-modifié", "-modificato", "-bewerkt", "-edytowane",
        "-編集済み", "-ha editado", "-editado", "-editat",
    )
)  # fmt: skip
#: Suffixes of the names of edited copies: those of Google Photos in its languages, and that of osxphotos.
EDITED_SUFFIXES: Final = (*_OF_GOOGLE, "_edited")
#: The beginnings of Google's suffixes that remain in cut names.
_CUT_SUFFIXES: Final = sorted({suffix[:length] for suffix in _OF_GOOGLE for length in range(2, len(suffix))})
_STILLS: Final = (".heic", ".jpg", ".jpeg")
#: Extensions of videos of live photos, and those that their stills have.
_STILLS_OF: Final = {".mp4": _STILLS, ".mov": _STILLS, ".mp": (*_STILLS, ".mp.jpg")}
_NUMBER: Final = re.compile(r"(?P<rest>.+)(?P<number>\(\d{1,4}\))", re.DOTALL)
_APPLE: Final = re.compile(r"img_(?P<number>\d{4,})")
#: Files with the same cut name get numbers on their sidecars.
_NUMBERS_OF_CUT: Final = ("", *(f"({number})" for number in range(1, 10)))
#: UTF-16 units that Takeout leaves of the name of a picture, without a number, and of that name without its extension.
_CUT_PICTURE, _CUT_STEM = 51, 47
#: Files beyond these are ignored, so that the names in a hostile folder do not multiply.
MOST_COMPANIONS: Final = 500


def is_read(name: str) -> bool:
    """Return whether a file is a sidecar of a kind that is read, by its extension."""
    return name[-5:].lower().endswith(READ)


def key(name: str) -> str:
    """Return the key by which names are compared: file systems differ in case and in the composition of accents."""
    return (name if name.isascii() else unicodedata.normalize("NFC", name)).casefold()


def candidates(name: str) -> tuple[str, ...]:
    """Return the keys of the sidecars that a file may have, the most specific first.

    Args:
        name: the file's name without its folder.
    """
    return tuple(dict.fromkeys(map(key, _written(name))))


def _units(text: str) -> int:
    """Return the length in UTF-16 units: characters beyond the basic plane, such as most emoji, have two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _cut(text: str, units: int) -> str:
    """Return the text cut to this many UTF-16 units, without half of a character at its end."""
    if text.isascii():
        return text[:units]
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore")


def _written(name: str) -> Iterator[str]:
    """Yield the names of the candidates in the case of the file's name."""
    stem, extension = _split(name)
    yield from (f"{name}.xmp", f"{stem}.xmp", f"{name}.yml", f"{stem}.yml")
    yield from (f"{name}.json", f"{stem}.json", f"{stem}.aae")
    if apple := _APPLE.fullmatch(key(stem)):
        yield f"img_o{apple['number']}.aae"
    yield from _takeout(stem, extension)


def confirms(name: str, sidecar: str, title: str) -> bool:
    """Return whether a Takeout sidecar with this title belongs to a file that has its name among its candidates.

    If the name of the file fits into that of the sidecar, the name suffices. Longer names are cut, so that several
    files may have the same sidecar name: then the title, which is the name before the cut, decides.

    Args:
        name: the file's name without its folder.
        sidecar: the sidecar's name without its folder.
        title: the title in the sidecar; without one the names suffice.
    """
    stem, extension = _split(name)
    whole = {
        key(form)
        for variant, number in _variants(stem, extension)
        if _units(variant) <= CUT
        for form in _forms(variant, number)
    }
    if not title or key(sidecar) in whole | {key(f"{name}.json"), key(f"{stem}.json")}:
        return True
    names = {variant for variant, _ in _variants(stem, extension)}
    written, written_extension = _split(html.unescape(title))
    stated = {_letters(written), _letters(written + written_extension)}
    if stated & {_letters(_split(variant)[0]) for variant in names}:
        return True
    cut = tuple(_letters(_split(variant)[0]) for variant in names if _units(variant) == _CUT_PICTURE)
    return _letters(written).startswith(cut) if cut else False


def companions(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the sidecars that each file may have, and the files that each sidecar may belong to.

    If names differ in case alone, a file has the sidecar in its own case, and none in the case of another file.

    Args:
        names: all names in one folder; the result has those with companions.
    """
    sidecars: dict[str, dict[str, None]] = defaultdict(dict)
    files = []
    for name in names:
        if is_read(name):
            sidecars[key(name)][name] = None
        else:
            files.append(name)
    if not sidecars:
        return {}
    owned = {sidecar for name in _in_several_cases(files) for sidecar in _written(name)}
    others: dict[str, list[str]] = defaultdict(list)
    for name in files:
        for sidecar in islice(_own(name, sidecars, owned), MOST_COMPANIONS):
            if len(others[sidecar]) < MOST_COMPANIONS:
                others[sidecar].append(name)
            others[name].append(sidecar)
    return {name: tuple(companion_names) for name, companion_names in others.items()}


def _in_several_cases(names: Sequence[str]) -> Iterator[str]:
    """Yield the files whose names, without extensions, differ from other names in case alone."""
    stems = {_split(name)[0] for name in names}
    several = Counter(map(key, stems))
    if len(several) < len(stems):
        yield from (name for name in names if several[key(_split(name)[0])] > 1)


def _own(name: str, sidecars: Mapping[str, Mapping[str, None]], owned: Container[str]) -> Iterator[str]:
    """Yield the sidecars of a file by their keys, without those `owned` by names in another case."""
    exact: dict[str, list[str]] = {}
    for candidate in _written(name):
        exact.setdefault(key(candidate), []).append(candidate)
    for folded, written in exact.items():
        if same := sidecars.get(folded):
            own_case = [candidate for candidate in dict.fromkeys(written) if candidate in same]
            yield from own_case or (sidecar for sidecar in islice(same, MOST_COMPANIONS) if sidecar not in owned)


def _takeout(stem: str, extension: str) -> Iterator[str]:
    # The cut takes the number out of a long name, which then looks like that of the picture without one.
    variants = sorted(_variants(stem, extension), key=lambda variant: not variant[1] and _loses_number(variant[0]))
    for name, number in variants:
        yield from _forms(name, number)
    whole = stem + extension
    if _units(whole) > CUT:
        for number in _NUMBERS_OF_CUT:
            yield from _forms(whole, number)


def _loses_number(name: str) -> bool:
    return _units(name) > CUT and _NUMBER.fullmatch(_split(name)[0]) is not None


def _forms(name: str, number: str) -> tuple[str, str]:
    """Return the name of a sidecar as Takeout wrote it before 2024 and since; the number is never cut."""
    return f"{_cut(name, CUT)}{number}.json", f"{_cut(name + _SUPPLEMENTAL, CUT)}{number}.json"


def _variants(stem: str, extension: str) -> Iterator[tuple[str, str]]:
    """Yield the names from which that of a sidecar may be computed, each with the number that the sidecar carries.

    The title of a picture may have no extension, and then the name of its sidecar has none.
    """
    stem, extension = unicodedata.normalize("NFC", stem), unicodedata.normalize("NFC", extension)
    for kind in (extension, *_STILLS_OF.get(extension.lower(), ()), *([""] if extension else [])):
        for variant, number in _stems(stem):
            yield variant + kind, number


def _stems(stem: str) -> Iterator[tuple[str, str]]:
    """Yield the stem, and for an edited copy the stem of its original: whole, and with their numbers split off."""
    yield from _numbered(stem)
    numbered = _NUMBER.fullmatch(stem)
    rest, number = (numbered["rest"], numbered["number"]) if numbered else (stem, "")
    for suffix in EDITED_SUFFIXES:
        if rest.endswith(suffix) and rest != suffix:
            yield from _numbered(rest.removesuffix(suffix) + number)
    if original := cut_original(rest):
        yield from _numbered(original + number)


def cut_original(stem: str) -> str:
    """Return the stem of the original of an edited copy in whose name Takeout cut the suffix; empty for other files."""
    if _units(stem) != _CUT_STEM:
        return ""
    return min((stem.removesuffix(part) for part in _CUT_SUFFIXES if stem.endswith(part)), key=len, default="")


def _numbered(stem: str) -> Iterator[tuple[str, str]]:
    yield stem, ""
    if numbered := _NUMBER.fullmatch(stem):
        yield numbered["rest"], numbered["number"]


def _split(name: str) -> tuple[str, str]:
    stem, dot, extension = name.rpartition(".")
    return (stem, dot + extension) if stem else (name, "")


def _letters(text: str) -> str:
    """Return the letters and digits alone: Takeout replaces characters that file systems do not allow."""
    return "".join(filter(str.isalnum, key(text)))
