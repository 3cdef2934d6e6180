"""Index runs by workers of dask.distributed beside processes of this machine: `python -m bench.dask_workers [COUNT]`.

All workers run on this machine, so that the figures show what the way over a scheduler costs, and not what a network
does. The pictures are the large ones of `bench.indexing`. The three ways take turns in each round, each with a library
of its own. The processor time is that of all processes: of the run, the scheduler, its workers and their readers.
"""

import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.indexing import ROUNDS, Instance, drawn
from photosvc.index.run import run_index
from photosvc.index.run_log import IndexOptions
from photosvc.models.engine import UnitOfWork
from photosvc.web.current import current_service
from photosvc.workers.scheduler import connected
from tests.helpers.programs.dask import dask_cluster


def over(instance: Instance, address: str) -> None:
    """One run by the workers of a scheduler."""
    with instance.app.app_context():
        service = current_service()
        with (
            connected(address, str(service.settings.originals), print) as scheduler,
            UnitOfWork(service.engine()) as session,
        ):
            run_index(session, service.settings, service.clock, IndexOptions(scheduler=scheduler))


def spent(roots: list[int]) -> float:
    """Processor seconds of this process and of others, all with their children."""
    usage = [resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ticks, left = 0, list(roots)
    while left:
        process = left.pop()
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
        for task in Path(f"/proc/{process}/task").iterdir():
            left += map(int, (task / "children").read_text().split())
    return ticks / os.sysconf("SC_CLK_TCK") + sum(one.ru_utime + one.ru_stime for one in usage)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        originals = folder / "originals"
        drawn(originals, count, (4000, 3000))
        (folder / "one").mkdir()
        (folder / "two").mkdir()
        with dask_cluster(folder / "one", 1) as one, dask_cluster(folder / "two", 2) as two:
            ways: dict[str, Callable[[Instance], object]] = {
                "one process of this machine": lambda instance: instance.index(1),
                "two processes of this machine": lambda instance: instance.index(2),
                "one worker of dask": lambda instance: over(instance, one.address),
                "two workers of dask": lambda instance: over(instance, two.address),
            }
            few = folder / "few"
            drawn(few, 8, (4000, 3000))
            for number, way in enumerate(ways.values()):  # start the processes, and wait until workers have joined
                way(Instance(folder / f"first{number}", few))
            times: dict[str, list[tuple[float, float]]] = {what: [] for what in ways}
            processes = [each.pid for cluster in (one, two) for each in (cluster.scheduler, *cluster.workers)]
            for _ in range(ROUNDS):
                for what, way in ways.items():
                    instance = Instance(folder / "instance", originals)
                    began, used = time.monotonic(), spent(processes)
                    way(instance)
                    times[what].append((time.monotonic() - began, spent(processes) - used))
                    assert instance.rows() == count
    print(f"| {count} pictures of 12 megapixels | files/s | processor ms a file | seconds of each round |")
    print("|---|---|---|---|")
    for what, rounds in times.items():
        elapsed, used = (statistics.median(column) for column in zip(*rounds, strict=True))
        seconds = ", ".join(f"{one:.1f}" for one, _ in rounds)
        print(f"| {what} | {count / elapsed:.1f} | {used / count * 1000:.1f} | {seconds} |")


if __name__ == "__main__":
    main()
