"""Timings as ratios in one run: `make bench`. Medians of five; quote ratios, not seconds.

Each row compares with a plain loop that is written here, compiled in the same way.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

import verifiable_dp as vdp
from verifiable_dp.auditing import registry
from verifiable_dp.evidence.blackbox import AlgorithmSampler, count
from verifiable_dp.evidence.events import choose

ROUNDS = 5_000_000
LARGE, WORKERS = 10**8, 2


@njit(nogil=True)
def plain_ucb1(means, horizon, seed):  # type: ignore[no-untyped-def]
    """UCB1 as one writes it first: every index in every round."""
    np.random.seed(seed)  # noqa: NPY002 - the only generator that numba seeds inside a function
    k = len(means)
    pulls, sums = np.zeros(k), np.zeros(k)
    for t in range(horizon):
        arm = t
        if t >= k:
            best = -1.0
            for a in range(k):
                value = sums[a] / pulls[a] + math.sqrt(2 * math.log(t) / pulls[a])
                if value > best:
                    best, arm = value, a
        sums[arm] += np.random.random() < means[arm]  # noqa: NPY002
        pulls[arm] += 1
    return pulls


def median_of(call: Callable[[], Any], repeats: int = 5) -> float:
    """Median seconds of a call, after one that is not counted."""
    call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    """Print the table."""
    environment = vdp.environments.s1("C2")
    means = np.array(environment.means)
    reference = median_of(lambda: plain_ucb1(means, ROUNDS, 1)) / ROUNDS
    print(f"{'what':<44}{'median':>12}{'ratio to plain UCB1':>22}")
    print(f"{'plain UCB1 loop, K=5, a round':<44}{reference * 1e9:>9.1f} ns{1:>22.2f}")
    for name, more in (("ucb1", {}), ("dp-ucb", {"epsilon": 1.0})):
        algorithm = vdp.make(name, n_arms=5, horizon=ROUNDS, **more)
        each = median_of(lambda a=algorithm: vdp.simulate(a, environment, runs=1)) / ROUNDS  # type: ignore[misc]
        print(f"{name + ' kernel, K=5, a round':<44}{each * 1e9:>9.1f} ns{each / reference:>22.2f}")
    algorithm = vdp.make("dp-se", n_arms=5, epsilon=0.25, horizon=50_000_000)
    whole = median_of(lambda: vdp.simulate(algorithm, environment, runs=30))
    print(
        f"{'dp-se, T=5e7, 30 runs, the whole':<44}{whole * 1e3:>9.1f} ms{whole / reference / 5e7 / 30:>22.6f}"
    )
    auditor = registry.auditor("dp-se")
    played = auditor.algorithm(**auditor.instance)
    pair, runs = auditor.pairs(played)[0], np.arange(1 << 17)
    for observe in ("actions", "releases"):
        sampler = AlgorithmSampler(played, observe, 0)
        each = median_of(lambda s=sampler: s.sample(pair, 0, 0, 0, runs)) / len(runs)  # type: ignore[misc]
        row = f"audited run of dp-se, K=2, {observe}"
        print(f"{row:<44}{each * 1e9:>9.1f} ns{each / reference:>22.2f}")
    sampler = AlgorithmSampler(played, "actions", 0)
    each = median_of(lambda: sampler.played(pair, 0, (0,), runs)) / len(runs)
    print(f"{'the same, played block by block':<44}{each * 1e9:>9.1f} ns{each / reference:>22.2f}")
    event = choose(*(sampler.sample(pair, world, 1, 0, runs) for world in (0, 1)), test_runs=LARGE)
    whole = median_of(lambda: count(sampler, pair, 0, event, (LARGE // 2, LARGE // 2), WORKERS), 3)
    row = f"10^8 audited runs, {WORKERS} workers, the whole"
    print(f"{row:<44}{whole:>9.1f} s{whole / reference / LARGE:>23.2f}")


if __name__ == "__main__":
    main()
