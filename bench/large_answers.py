"""First byte and memory of the largest answers: `python -m bench.large_answers FOLDER [--rounds N] [--code FOLDER]`.

FOLDER holds a library made by `bench.libraries.library`. It is served as `svc deploy show gunicorn` says, and one
client asks for `/geo` and `photos/view` of 100,000 files in turn. Milliseconds until the first byte of the body and
until the last, and the peak of the private memory (RssAnon) of both workers above what they had before the request, in
MB: median, lowest and highest.

With `--code` the service of another checkout is measured too, in turn with this one.
"""

import argparse
import http.client
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bench.libraries.library import TOKEN_FILE
from bench.peers.serve import Server, with_spread
from bench.soak import CASES, HERE, Memory, served

ASKED = ("view", "geo")
_PIECE = 1 << 18


@dataclass(frozen=True, slots=True)
class Answer:
    """The times and the memory of an answer."""

    first: float
    """Milliseconds until the first byte of the body."""
    last: float
    more: float
    """MB at the peak, above those before."""
    size: float
    """MB of the body."""


def ask(server: Server, path: str, token: str) -> Answer:
    """Read an answer to its end, as fast as it comes."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    memory = Memory(server)
    before = memory.now()
    with memory.sampled():
        began = time.perf_counter()
        connection.request("GET", f"/api/v1{path}", headers={"X-Auth-Token": token})
        with connection.getresponse() as answer:
            if answer.status != 200:
                raise SystemExit(answer.read().decode())
            size = len(answer.read(1))
            first = time.perf_counter() - began
            while piece := answer.read(_PIECE):
                size += len(piece)
        last = time.perf_counter() - began
    connection.close()
    return Answer(first * 1000, last * 1000, max(0.0, memory.peak - before), size / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--code", type=Path, action="append", default=[], help="another checkout")
    given = parser.parse_args()
    token = (given.folder / TOKEN_FILE).read_text().strip()
    codes = [HERE, *(code.resolve() for code in given.code)]
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = []
        for number, code in enumerate(codes):
            (folder := temporary / str(number)).mkdir()
            servers.append(stack.enter_context(served(given.folder.resolve(), code, folder / "log")))
        found: dict[tuple[int, str], list[Answer]] = {}
        for number in range(-2, given.rounds):  # the first two are not counted: each worker has asked once by then
            for which, server in enumerate(servers):
                for name in ASKED:
                    answer = ask(server, CASES[name](), token)
                    if number >= 0:
                        found.setdefault((which, name), []).append(answer)
    print("| answer | first byte, ms | last byte, ms | MB above idle | MB sent |\n|---|---|---|---|---|")
    for (which, name), answers in found.items():
        spent = [with_spread([getattr(one, each) for one in answers], 0) for each in ("first", "last", "more")]
        where = f", {codes[which]}" if which else ""
        print(f"| {CASES[name]()}{where} | {' | '.join(spent)} | {answers[0].size:.1f} |")


if __name__ == "__main__":
    main()
