"""The catalogues of the pages: `python -m tools.translations` adds new texts to them and drops those that are gone.

Texts of templates, modules and scripts are found by their marks (see `photosvc/pages/language.py`), messages with
values by their class, and further messages and texts of tables of other packages are listed by
`photosvc/pages/messages.py`. A new text is added without a translation, for a person to write; the tests list the ones
that are missing. Beside each catalogue stands the same one in the form that the service reads (`.mo`): run this after a
translation was written. With `check`, nothing is written: the program ends with 1 if the catalogues are not up to date.
"""

import sys
from collections.abc import Iterator
from io import BytesIO

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from photosvc.pages.language import ENGLISH, FOLDER, LANGUAGES
from photosvc.pages.messages import table_texts

_PAGES = FOLDER.parent
_KEYWORDS = {"_": None, "N_": None, "P_": (1, 2), "ngettext": (1, 2), "pgettext": ((1, "c"), 2), "NP_": ((1, "c"), 2)}
_MESSAGES = {"Message": None, "of_field": (2,)}
_METHODS = [("**.py", "python"), ("**/templates/**.html", "jinja2.ext:babel_extract")]
_PLURALS = {"de": "(n != 1)", "es": "(n != 1)", "fr": "(n > 1)"}
_TITLE = "# The pages of photosvc in {}. New texts are added by `make translations`.\n#"


class _Plain(Catalog):
    """A catalogue whose head has no times and versions, so that the same texts make the same file."""

    def __iter__(self) -> Iterator[Message]:
        """Yield the head, then the texts."""
        _, *texts = super().__iter__()
        yield Message("", head(str(self.locale_identifier)))
        yield from texts


def head(language: str) -> str:
    """Return the head of a catalogue, a field in each line."""
    return (
        f"Language: {language}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
        f"Content-Transfer-Encoding: 8bit\nPlural-Forms: nplurals=2; plural={_PLURALS[language]};\n"
    )


def extracted() -> Catalog:
    """Return the texts that are marked in the pages, without translations."""
    found = Catalog(project="photosvc", fuzzy=False)
    for _, _, message, _, context in extract_from_dir(str(_PAGES), _METHODS, keywords=_KEYWORDS):
        found.add(message, context=context)
    for _, _, message, _, _ in extract_from_dir(str(_PAGES.parent), [("**.py", "python")], keywords=_MESSAGES):
        found.add(message)
    for text in table_texts():
        found.add(text)
    return found


def updated(language: str, texts: Catalog) -> bytes:
    """Return the catalogue of a language with these texts, and the translations that it has of them.

    Args:
        language: its code, such as `de`.
        texts: the catalogue of `extracted`.

    """
    path = FOLDER / f"{language}.po"
    known = read_po(BytesIO(path.read_bytes()), locale=language) if path.is_file() else Catalog()
    fresh = Catalog(locale=language, project="photosvc", fuzzy=False, header_comment=_TITLE.format(LANGUAGES[language]))
    plurals = f"nplurals=2; plural={_PLURALS[language]};"
    fresh.mime_headers = [("Plural-Forms", plurals)]  # Babel's own have a third form for millions
    for text in texts:
        if not text.id:
            continue
        present = known.get(text.id, text.context)
        same = present is not None and present.pluralizable == text.pluralizable
        fresh.add(text.id, present.string if present and same else None, flags=text.flags, context=text.context)
    written = BytesIO()
    write_po(written, fresh, width=120, no_location=True, omit_header=True, sort_output=True)
    lines = "".join(f'"{line}\\n"\n' for line in head(language).splitlines())
    return f'{_TITLE.format(LANGUAGES[language])}\nmsgid ""\nmsgstr ""\n{lines}\n'.encode() + written.getvalue()


def packed(content: bytes, language: str) -> bytes:
    """Return a catalogue in the form that is read by the service.

    Args:
        content: the catalogue as people write it.
        language: its code, such as `de`.

    """
    plain, written = _Plain(locale=language), BytesIO()
    for text in read_po(BytesIO(content), locale=language):
        if text.id:
            plain.add(text.id, text.string, context=text.context)
    write_mo(written, plain)
    return written.getvalue()


def main(arguments: list[str]) -> int:
    """Update the catalogues, or check them; return the exit status."""
    texts, status = extracted(), 0
    for language in LANGUAGES:
        if language == ENGLISH:
            continue
        content = updated(language, texts)
        for ending, wanted in (("po", content), ("mo", packed(content, language))):
            path = FOLDER / f"{language}.{ending}"
            if not path.is_file() or path.read_bytes() != wanted:
                status = 1
                if arguments != ["check"]:
                    path.write_bytes(wanted)
    return status if arguments == ["check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
