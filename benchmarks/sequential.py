"""How early sequential audits stop: runs to refute Laplace noise, beside what is needed at least.

Prints the table of `docs/sequential-audits.md`. Counts follow from the seeds; a minute on one core.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.validate import IntArray
from verifiable_dp.evidence.blackbox import bets, sequential, statistics
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.events import Observation
from verifiable_dp.evidence.blackbox.test import Plan, Terms
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

ALPHA, SEEDS = 1e-6, 30
PLAN = Plan(1000, 100_000, 400_000, sequential=True)
PAIRS = [DataPair(0.0, 1.0)]
CUTS = np.linspace(0.0, 1.0, 401)
# Claim and true epsilon.
SETTINGS = ((0.5, 1.0), (1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (5.0, 10.0), (1.0, 1.25), (1.0, 1.1))


@dataclass
class Counting:
    """A sampler that counts the runs it is asked for."""

    inner: ReleaseSampler
    runs: int = 0

    @property
    def shard(self) -> int:
        """See `Sampler.shard`."""
        return self.inner.shard

    def sample(self, pair: Any, world: int, stage: int, number: int, runs: IntArray) -> Observation:
        """See `Sampler.sample`."""
        self.runs += len(runs)
        return self.inner.sample(pair, world, stage, number, runs)


def laplace(epsilon: float) -> Callable[..., Any]:
    """The mechanism on a query of sensitivity 1."""

    def release(data: float, size: int, rng: np.random.Generator) -> Any:
        return data + rng.laplace(0, 1 / epsilon, size)

    return release


def fixed(hits: list[tuple[float, float]], claim: float) -> int:
    """Least runs, of both worlds, with which the fixed-sample test of the best event has power .95."""
    low, high = 10, 4_000_000
    while high - low > max(1, low // 200):
        middle = max(low + 1, math.isqrt(low * high))
        power = max(statistics.rejection_power(p, q, middle, claim, ALPHA) for p, q in hits)
        low, high = (low, middle) if power >= 0.95 else (middle, high)
    return 2 * high


def refuted(claim: float, true: float, seed: int) -> tuple[int, int]:
    """Test runs, and all runs, of an audit."""
    sampler = Counting(ReleaseSampler(laplace(true), seed))
    (check,), _, _ = sequential.run(
        sampler,
        lambda part: blackbox.select(sampler, PAIRS, part, delta=0.0, workers=1),
        PLAN,
        Terms(PrivacyClaim(claim), seed, alpha=ALPHA),
    )
    if check.verdict != "refuted":
        raise SystemExit(f"claim {claim}, true epsilon {true}, seed {seed}: not refuted")
    return int(check.statistics["runs"]), sampler.runs


def main() -> None:
    """Print the table."""
    print(
        "| claim | true epsilon | least | fixed | sequential: test runs | 9 in 10 within | with selection |"
    )
    print("|---|---|---|---|---|---|---|")
    for claim, true in SETTINGS:
        p, q = 1 - 0.5 * np.exp(true * (CUTS - 1)), 0.5 * np.exp(-true * CUTS)
        hits = list(zip(p.tolist(), q.tolist(), strict=True))
        least = math.log(1 / ALPHA) / max(bets.growth_rate(*pair, claim) for pair in hits)
        runs, total = np.array([refuted(claim, true, seed) for seed in range(SEEDS)]).T
        row = (claim, true, f"{least:.0f}", fixed(hits[::10], claim))
        numbers = (np.median(runs), np.quantile(runs, 0.9), np.median(total))
        print("|", " | ".join([*map(str, row), *(f"{number:.0f}" for number in numbers)]), "|", flush=True)


if __name__ == "__main__":
    main()
