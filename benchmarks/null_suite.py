"""Ten thousand audits of correct targets at family-wise level 1e-3: how many refute.

`python benchmarks/null_suite.py [--audits N] [--workers W] [--json PATH]`

Every audit is whole: it ranks the neighbours, chooses pair and event on selection runs and tests on
fresh ones. Most targets are tested at their true epsilon, where an alarm is likeliest.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verifiable_dp.controls import controls
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.registry import entries as registry
from verifiable_dp.selfcheck import nulls
from verifiable_dp.selfcheck.nulls import LEVEL, SIZES, Null
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

EPSILONS = (0.5, 1.0, 2.0)
RELEASED = ("tree-sum", "dp-ucb", "dp-se", "dp-robust-se", "dp-linear", "ldp-robust-se")
COMPARED = ("dp-se", "dp-se-doubling", "dp-robust-se")


@dataclass(frozen=True)
class Response:
    """A bandit whose second action is the randomised response to the first reward: its epsilon is exact."""

    epsilon: float

    def __call__(self, rewards: Any, n_runs: int, rng: np.random.Generator) -> Any:
        """See `play_many`."""
        actions = np.zeros((n_runs, len(rewards)), dtype=np.int64)
        keep = 1 / (1 + math.exp(-self.epsilon))
        truth = rewards[0, 0] > 0.5
        actions[:, 1:] = np.where(rng.random(n_runs) < keep, truth, not truth)[:, None]
        return actions


@dataclass(frozen=True)
class Commit:
    """Explore-then-commit on noisy sums of rewards in [0, 1]: each arm five times, then the better one."""

    epsilon: float

    def __call__(self, rewards: Any, n_runs: int, rng: np.random.Generator) -> Any:
        """See `play_many`."""
        horizon, n_arms = rewards.shape
        actions = np.tile(np.arange(horizon) % n_arms, (n_runs, 1))
        sums = np.array([rewards[: 5 * n_arms][arm::n_arms, arm].sum() for arm in range(n_arms)])
        noisy = sums + rng.laplace(0, 1 / self.epsilon, (n_runs, n_arms))
        actions[:, 5 * n_arms :] = noisy.argmax(axis=1)[:, None]
        return actions


@dataclass(frozen=True)
class _Algorithm:
    name: str
    epsilon: float
    observe: str

    def made(self) -> Any:
        auditor = registry.auditor(self.name)
        return auditor.algorithm(**{**auditor.instance, **auditor.small, "epsilon": self.epsilon})

    def __call__(self, seed: int) -> AlgorithmSampler:
        return AlgorithmSampler(self.made(), self.observe, seed)


@dataclass(frozen=True)
class _Control:
    index: int

    def __call__(self, seed: int) -> ReleaseSampler:
        return ReleaseSampler(controls()[self.index].release, seed)


@dataclass(frozen=True)
class _Play:
    function: Any

    def __call__(self, seed: int) -> PlaySampler:
        return PlaySampler(self.function, True, 2, 12, seed, shard=4096)


def targets() -> list[Null]:
    """Algorithms on small instances, controls tested at their true epsilon, and two bandits of a user."""
    found: list[Null] = []
    for names, observe in ((RELEASED, "releases"), (COMPARED, "actions")):
        for name in names:
            auditor = registry.auditor(name)
            for epsilon in EPSILONS:
                kind = _Algorithm(name, epsilon, observe)
                pairs = list(auditor.pairs(kind.made()))[:3]
                boundary = observe == "releases" and auditor.tightness == 1
                found.append(Null(f"{name}, {observe}, epsilon {epsilon:g}", kind, pairs, epsilon, boundary))
    for index, control in enumerate(controls()):
        if 0 < control.truth < math.inf and getattr(control, "delta", 0.0) == 0:
            pair = DataPair(*control.pair)
            found.append(Null(f"control {control.name}", _Control(index), [pair], control.truth, True))
    table = np.full((12, 2), 0.5)
    pairs = [TablePair(np.where(np.arange(12)[:, None] == 0, low, table), 0, 0, 1.0) for low in (0.0, 0.5)]
    for epsilon in EPSILONS:
        for kind in (Response(epsilon), Commit(epsilon)):
            name = f"{type(kind).__name__.lower()}, epsilon {epsilon:g}"
            found.append(Null(name, _Play(kind), pairs, epsilon, isinstance(kind, Response)))
    return found


SLOW = ("dp-linear", "control histogram", "control sparse", "control tree", "response", "commit")


def counts(suite: Sequence[Null], audits: int) -> list[int]:
    """How often each target is audited: those that take long a quarter as often as the others."""
    weights = np.array([0.25 if target.name.startswith(SLOW) else 1.0 for target in suite])
    return [math.ceil(share) for share in audits * weights / weights.sum()]


def main() -> None:
    """Run the suite and print the counts by target."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--audits", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    suite, start = targets(), time.time()
    tallies = nulls.run(suite, counts(suite, given.audits), seed=given.seed, workers=given.workers)
    share, low, high = nulls.rate(tallies)
    for tally in tallies:
        print(f"{tally.name:<44}{tally.epsilon:>8.4f}{tally.audits:>8}{tally.alarms:>6}")
    total, alarms = sum(t.audits for t in tallies), sum(t.alarms for t in tallies)
    print(
        f"{alarms} false alarms in {total} audits at level {LEVEL:g}: rate {share:.2e}, "
        f"95 % interval [{low:.2e}, {high:.2e}], "
        f"p-value of a rate above the level {nulls.p_value(tallies):.3g}; {time.time() - start:.0f} s"
    )
    if given.json:
        whole = {
            "level": LEVEL,
            "sizes": SIZES.as_dict(),
            "seed": given.seed,
            "audits": total,
            "alarms": alarms,
            "rate": share,
            "interval": [low, high],
            "targets": [asdict(tally) for tally in tallies],
        }
        given.json.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
