"""What a child process adds to an audit of a user's code: `python -m benchmarks.child`.

CPU seconds of this process and of its children, for audits of about 5 seconds; medians of three. Quote the
ratios. All of the records but their provenance has to be the same.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import verifiable_dp as vdp

REPEATS = 3


def release(data: Any, size: int, rng: np.random.Generator) -> Any:
    """A number with Laplace noise."""
    return data + rng.laplace(0, 1, size)


def play(rewards: Any, rng: np.random.Generator) -> Any:
    """Explore, then commit to the arm whose noisy sum is largest."""
    horizon, n_arms = rewards.shape
    explore = horizon // 3
    actions = np.arange(horizon) % n_arms
    sums = np.bincount(actions[:explore], rewards[np.arange(explore), actions[:explore]], n_arms)
    actions[explore:] = np.argmax(sums + rng.laplace(0, 1, n_arms))
    return actions


# Sizes at which an audit takes about 5 CPU seconds.
AUDITS: dict[str, Callable[[bool], Any]] = {
    "release, a million draws or so": lambda here: vdp.audit(
        release, epsilon=1.0, budget="standard", in_process=here
    ),
    "play, T = 60, K = 2": lambda here: vdp.audit(
        play, epsilon=1.0, n_arms=2, horizon=60, runs=60_000, in_process=here
    ),
}


def spent() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def main() -> None:
    """Print the table; exit status 1 if a record differs."""
    print(f"{'audit':<32}{'in process':>12}{'in a child':>12}{'ratio':>8}")
    same = True
    for name, audit in AUDITS.items():
        audit(True)  # what is loaded once is loaded for both
        times: dict[bool, list[float]] = {True: [], False: []}
        records = set()
        for _ in range(REPEATS):
            for here in (True, False):
                began = spent()
                record = {**audit(here).record, "provenance": None, "digest": None}
                times[here].append(spent() - began)
                records.add(json.dumps(record, sort_keys=True))
        inside, apart = median(times[True]), median(times[False])
        print(f"{name:<32}{inside:>10.2f} s{apart:>10.2f} s{apart / inside:>8.2f}", flush=True)
        same &= len(records) == 1
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
