"""Timings of audits as ratios in one run: `make bench`. Medians of five; quote ratios, not seconds.

Each row compares with the plain loop of `benchmarks/simulation.py`, which times simulated rounds.
"""

from __future__ import annotations

import numpy as np

from benchmarks.simulation import median_of, plain_ucb1
from verifiable_dp.auditors._settings import s1
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.events import EventSetting, choose
from verifiable_dp.evidence.blackbox.test import count
from verifiable_dp.registry import entries as registry

ROUNDS = 5_000_000
LARGE, WORKERS = 10**8, 2


def main() -> None:
    """Print the table."""
    environment = s1("C2")
    means = np.array(environment.means)
    reference = median_of(lambda: plain_ucb1(means, ROUNDS, 1)) / ROUNDS
    print(f"{'what':<44}{'median':>12}{'ratio to plain UCB1':>22}")
    print(f"{'plain UCB1 loop, K=5, a round':<44}{reference * 1e9:>9.1f} ns{1:>22.2f}")
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
    event = choose(*(sampler.sample(pair, world, 1, 0, runs) for world in (0, 1)), EventSetting(LARGE))
    whole = median_of(lambda: count(sampler, pair, 0, event, (LARGE // 2, LARGE // 2), WORKERS), 3)
    row = f"10^8 audited runs, {WORKERS} workers, the whole"
    print(f"{row:<44}{whole:>9.1f} s{whole / reference / LARGE:>23.2f}")


if __name__ == "__main__":
    main()
