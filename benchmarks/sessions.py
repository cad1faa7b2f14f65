"""What an update of a live session costs: `python -m benchmarks.sessions [FOLDER]` in the root.

In memory, durable, durable with a counter, and in a batch; microseconds of wall time, medians, and how many
times as long as in memory. The noise is OpenDP's. A durable update waits for the disk of the folder (by
default the one of temporary files): what it costs is mostly that of the disk. Quote ratios, not seconds.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import verifiable_dp as vdp
from verifiable_dp.core.session import Session

UPDATES, BATCH = 400, 50
NAMES = ("dp-se", "dp-ucb", "ldp-ucb")  # few releases, one each round, reports


def each(session: Session) -> float:
    """Median seconds of an update."""
    found = []
    for _ in range(UPDATES):
        started = time.perf_counter()
        session.update(0.5)
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def batched(session: Session) -> float:
    """Median seconds of an update in batches."""
    found = []
    for _ in range(UPDATES // BATCH):
        started = time.perf_counter()
        with session.batch():
            for _ in range(BATCH):
                session.update(0.5)
        found.append((time.perf_counter() - started) / BATCH)
    return statistics.median(found)


def costs(name: str, folder: Path) -> dict[str, float]:
    """Seconds of an update, by how it is made to last."""
    algorithm = vdp.make(name, n_arms=3, epsilon=1.0, horizon=20_000)
    counter = vdp.FileCounter(folder / f"{name}.counter")
    with (
        algorithm.session() as memory,
        algorithm.session(path=folder / name) as durable,
        algorithm.session(path=folder / f"{name}.counted", counter=counter) as counted,
    ):
        return {
            "in memory": each(memory),
            "durable": each(durable),
            "durable, with a counter": each(counted),
            f"in batches of {BATCH}": batched(durable),
        }


def main() -> None:
    """Print a table."""
    where = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        for name in NAMES:
            found = costs(name, Path(folder))
            for way, seconds in found.items():
                ratio = seconds / found["in memory"]
                print(f"{name:8} {way:24} {seconds * 1e6:9.0f} µs {ratio:8.1f} x")


if __name__ == "__main__":
    main()
