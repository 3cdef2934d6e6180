"""The cost of everyday jobs on the web page: `python -m bench.jobs`.

Starts `svc run` on a fresh instance with drawn pictures of 24 months. Chromium does each job as a person with a mouse
does it, at 1280 x 800. Counted are the clicks, the texts that are typed and the keys that are pressed; measured is the
time until the result is on the page, without any for reading or thinking.
"""

import io
import random
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from bench.first_minutes import BASE, PASSWORD, running
from tests.helpers.chromium import open_chromium

_MONTHS, _EACH = 24, 10
_TILE = ".tiles li[aria-posinset]"
_WAIT_MS = 60_000


@dataclass
class Cost:
    """The cost of a job."""

    clicks: int = 0
    texts: int = 0
    keys: int = 0
    seconds: float = 0.0


class Person:
    """Somebody with a mouse and a keyboard; counts what they do."""

    def __init__(self, page: Any) -> None:  # noqa: ANN401 - Playwright is imported where it is there
        self.page = page
        self.cost = Cost()
        self.costs: dict[str, Cost] = {}

    def do(self, job: str, act: Callable[["Person"], None]) -> None:
        """Do a job, and note what it cost."""
        self.cost = self.costs[job] = Cost()
        began = time.monotonic()
        act(self)
        self.cost.seconds = time.monotonic() - began

    def click(self, what: str, **options: Any) -> None:  # noqa: ANN401
        """Click an element."""
        self.cost.clicks += 1
        self.page.locator(what).first.click(**options)

    def type(self, what: str, text: str) -> None:
        """Type into a field that has the focus, or that the Tab key leads to."""
        self.cost.texts += 1
        self.page.fill(what, text)

    def press(self, key: str) -> None:
        """Press a key."""
        self.cost.keys += 1
        self.page.keyboard.press(key)

    def see(self, what: str) -> None:
        """Wait until something is on the page."""
        self.page.locator(what).first.wait_for()


def first_account(code: str) -> Callable[[Person], None]:
    """Make the first account by the code of the service."""

    def act(person: Person) -> None:
        person.page.goto(f"{BASE}/")
        for name, value in {"code": code, "name": "alice", "password": PASSWORD, "again": PASSWORD}.items():
            person.type(f"input[name={name}]", value)
        person.press("Enter")
        person.see(".leave b:text-is('alice')")

    return act


def photo_of_a_month(person: Person) -> None:
    """Find the photos of May 2022 by the scrubber beside the grid, whose label says the month, and open one of them."""
    box = person.page.locator(".scrubber").bounding_box()
    x, bubble = box["x"] + box["width"] / 2, person.page.locator(".scrubber .bubble")
    for step in range(100):
        person.page.mouse.move(x, box["y"] + box["height"] * step / 100)
        if (bubble.text_content() or "").startswith("May 2022"):
            break
    person.cost.clicks += 1
    person.page.mouse.down()
    person.page.mouse.up()
    person.see("main h2:text-matches('May .*2022') >> visible=true")
    person.click(f"{_TILE}:has(img.here) a >> visible=true")
    person.see(".pswp--ui-visible")


def by_words(person: Person) -> None:
    """Find photos by a word of their names."""
    person.click("input[name=q]")
    person.type("input[name=q]", "lake")
    person.press("Enter")
    person.page.wait_for_url("**/?q=lake*")
    person.see(f"{_TILE} img.here")


def select_first(person: Person, count: int) -> None:
    """Select the first photos by clicks on the first and, with Shift, on the last of them."""
    for number, modifiers in ((0, []), (count - 1, ["Shift"])):
        person.page.locator(f"{_TILE} a").nth(number).hover()
        person.click(f"{_TILE} >> nth={number} >> .pick", modifiers=modifiers)


def five_favorites(person: Person) -> None:
    """Mark five photos as favorites, of which the first and last are clicked."""
    select_first(person, 5)
    person.click(".actions button[title^=Favorite]")
    person.see(".undo:has-text('5 photos made favorites')")


def title(person: Person) -> None:
    """Give a photo a title."""
    person.click(f"{_TILE} a")
    person.see(".pswp--ui-visible")
    person.click(".pswp button[title^=Details]")
    person.click(".panel [name=Title]")
    person.type(".panel [name=Title]", "A fine day")
    person.press("Enter")
    person.see(".panel h2:text-is('A fine day')")


def into_an_album(person: Person) -> None:
    """Add three photos to a new album."""
    select_first(person, 3)
    person.click(".actions button[title^='Add to album']")
    person.type("dialog input", "Holidays")
    person.press("Enter")
    person.see(".undo:has-text('added to Holidays')")


def share(person: Person) -> None:
    """Share the album by a link, and copy its address."""
    person.click(".side a:has-text('Albums')")
    person.click("main a:has-text('Holidays')")
    person.click("main a:has-text('Share')")
    person.click("button:text-is('Make a link')")
    person.click("button[data-copy=address]")
    person.see("button:text-is('Copied')")


def upload(files: list[Path]) -> Callable[[Person], None]:
    """Upload three files."""

    def act(person: Person) -> None:
        with person.page.expect_file_chooser() as chooser:
            person.click(".side nav > a.upload")
        person.cost.clicks += 2  # in the dialog of the system: all of the files, Open
        chooser.value.set_files(files)
        person.see(".uploads li.added >> nth=2")

    return act


def archive_and_restore(person: Person) -> None:
    """Put a photo out of sight, and bring it back."""
    person.page.locator(f"{_TILE} a").nth(0).hover()
    person.click(f"{_TILE} >> nth=0 >> .pick")
    person.click(".actions button[title^=Archive]")
    person.see(".undo:has-text('1 photo archived')")
    person.click(".undo button:text-is('Undo')")
    person.see(".undo:has-text('Undone')")


def delete_and_restore(person: Person) -> None:
    """Delete a photo, and bring it back."""
    person.page.locator(f"{_TILE} a").nth(0).hover()
    person.click(f"{_TILE} >> nth=0 >> .pick")
    person.click(".actions button[title^=Delete]")
    person.click("dialog button.danger")
    person.see(".undo:has-text('deleted'), .undo:has-text('trash')")
    person.click(".undo button:text-is('Undo')")
    person.see(".undo:has-text('Undone')")


def language(person: Person) -> None:
    """Change the language of the pages."""
    person.click(".side a:has-text('Settings')")
    person.cost.clicks += 2  # the list, and an entry of it
    person.page.select_option("#language", "fr")
    person.click("section:has(#language) button")
    person.see("text=La langue est enregistrée")
    person.page.select_option("#language", "en")
    person.page.click("section:has(#language) button")
    person.page.wait_for_selector("text=The language is saved")


def app_password(person: Person) -> None:
    """Make a password for an app, and copy it. The form is open as long as there is none."""
    person.click(".side a:has-text('Settings')")
    person.click(".crumbs a:has-text('Apps'), main a:has-text('Apps and Devices')")
    person.type("#name", "Phone")
    person.type("#password", PASSWORD)
    person.press("Enter")
    person.click("button[data-copy=secret]")
    person.see("button:text-is('Copied')")


def sign_out(person: Person) -> None:
    """Sign out."""
    person.click(".side .leave button")
    person.page.wait_for_url("**/sign-in*")


def pictures(folder: Path, count: int, name: Callable[[int], str]) -> list[Path]:
    """Draw pictures of months that follow each other."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number in range(count):
        colors = random.Random(f"{folder.name} {number}").randbytes(12 * 8 * 3)
        image = Image.frombytes("RGB", (12, 8), colors).resize((1200, 800), Image.Resampling.BICUBIC)
        month = number // _EACH
        taken = f"{2022 + month // 12}:{month % 12 + 1:02}:{number % _EACH + 1:02} 10:00:00"
        exif = Image.Exif()
        exif.get_ifd(0x8769)[0x9003] = taken
        packed = io.BytesIO()
        image.save(packed, "JPEG", quality=85, exif=exif)
        path = folder / name(number)
        path.write_bytes(packed.getvalue())
        made.append(path)
    return made


def is_there() -> bool:
    """Return whether the service answers."""
    try:
        with urllib.request.urlopen(f"{BASE}/sign-in", timeout=10):
            return True
    except OSError:
        return False


def main() -> None:
    """Print a table of the jobs."""
    with tempfile.TemporaryDirectory() as temporary:
        photos, instance = Path(temporary, "photos"), Path(temporary, "instance")
        instance.mkdir()
        pictures(photos, _MONTHS * _EACH, lambda number: f"{'lake' if number % 5 else 'hill'}-{number}.jpg")
        new = pictures(Path(temporary, "new"), 3, lambda number: f"new-{number}.jpg")
        with running(photos, instance) as code, open_chromium() as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(_WAIT_MS)
            while not is_there():
                time.sleep(0.1)
            person = Person(page)
            jobs: dict[str, tuple[str, Callable[[Person], None]]] = {
                "first account": ("", first_account(code)),
                "find and open a photo of a month": ("/", photo_of_a_month),
                "find photos by a word": ("/", by_words),
                "make five photos favorites": ("/", five_favorites),
                "title a photo": ("/", title),
                "add three photos to a new album": ("/", into_an_album),
                "share an album by a link": ("/", share),
                "upload three files": ("/", upload(new)),
                "archive a photo, and undo": ("/", archive_and_restore),
                "delete a photo, and undo": ("/", delete_and_restore),
                "change the language": ("/", language),
                "make an app password": ("/", app_password),
                "sign out": ("/", sign_out),
            }
            for job, (start, act) in jobs.items():
                if start:
                    page.goto(f"{BASE}{start}")
                    page.wait_for_selector(f"{_TILE} img.here")
                    if job.startswith("find and"):  # once all of them are indexed
                        page.wait_for_function("() => document.querySelectorAll('.scrubber .years *').length > 1")
                person.do(job, act)
                cost = person.costs[job]
                print(f"| {job} | {cost.clicks} | {cost.texts} | {cost.keys} | {cost.seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
