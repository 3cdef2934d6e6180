"""The catalogues of the pages: `python -m tools.translations` adds new texts to them and drops those that are gone.

Texts of templates, modules and scripts are found by their marks (see `photosvc/pages/language.py`), and those of tables
of other packages are listed by `photosvc/pages/messages.py`. A new text is added
without a translation, for a person to write; the tests list the ones that are missing. With `check`, nothing is
written: the program ends with 1 if the catalogues are not up to date.
"""

import sys
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from photosvc.pages.language import ENGLISH, FOLDER, LANGUAGES
from photosvc.pages.messages import table_texts

_PAGES = FOLDER.parent
_KEYWORDS = {
    "_": None,
    "N_": None,
    "P_": (1, 2),
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "NP_": ((1, "c"), 2),
}
_METHODS = [("**.py", "python"), ("**/templates/**.html", "jinja2.ext:babel_extract")]
_PLURALS = {"de": "(n != 1)", "es": "(n != 1)", "fr": "(n > 1)"}
_TITLE = "# The pages of photosvc in {}. New texts are added by `make translations`.\n#"


def extracted() -> Catalog:
    """Return the texts that are marked in the pages, without translations."""
    found = Catalog(project="photosvc", fuzzy=False)
    for _, _, message, _, context in extract_from_dir(str(_PAGES), _METHODS, keywords=_KEYWORDS):
        found.add(message, context=context)
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
    head = f"""{_TITLE.format(LANGUAGES[language])}
msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plurals}\\n"

"""
    return head.encode() + written.getvalue()


def main(arguments: list[str]) -> int:
    """Update the catalogues, or check them; return the exit status."""
    texts, status = extracted(), 0
    for language in LANGUAGES:
        if language == ENGLISH:
            continue
        content, path = updated(language, texts), Path(FOLDER / f"{language}.po")
        if path.is_file() and path.read_bytes() == content:
            continue
        status = 1
        if arguments != ["check"]:
            path.write_bytes(content)
    return status if arguments == ["check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
