"""What auditors of several families share: changed parameters, sample sizes, mutants of the noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray
from verifiable_dp.auditing.auditor import Mutant
from verifiable_dp.auditing.theorems import RUNS, TABLE_RUNS, Trial
from verifiable_dp.auditing.wrapped import AlteredNoise, original
from verifiable_dp.environments import Environment, TwoPoint, s1
from verifiable_dp.evidence import regret as evidence
from verifiable_dp.evidence import tables
from verifiable_dp.evidence.check import Check
from verifiable_dp.neighbours import StreamPair, TablePair
from verifiable_dp.simulation import simulate

_OTHER_SEED = 0x5EED  # runs of two algorithms are independent
SETTINGS = ("C1", "C2", "C3", "C4")


def settings(n_arms: int, budget: str) -> list[TwoPoint]:
    """C1 to C4 of Sajed & Sheffet; C2 alone for a mutant."""
    return [s1(name, n_arms) for name in (("C2",) if budget == "mutant" else SETTINGS)]


def c1_to_c4(trial: Trial) -> list[TwoPoint]:
    """C1 to C4 of Sajed & Sheffet; C2 alone for a mutant."""
    return [s1(name, trial.rule.n_arms) for name in (("C2",) if trial.mutant else SETTINGS)]


def largest_regret(environment: Environment, horizon: int) -> float:
    """Regret of pulling the worst arm all the time."""
    return float(environment.gaps.max()) * horizon


def mean_regret(
    algorithm: Any,
    environment: Environment,
    bound: Callable[[FloatArray, float], float],
    *,
    claim: str,
    budget: str,
    seed: int,
    workers: int,
    runs: int | None = None,
) -> tuple[Check, FloatArray]:
    """Check of mean regret against `bound(gaps, T)`; also the regret of each run (runs,)."""
    horizon, gaps = algorithm.horizon, environment.gaps
    runs = RUNS[budget] if runs is None else runs
    done = simulate(algorithm, environment, runs=runs, seed=seed, workers=workers, points=2)
    check = evidence.mean_bound(
        f"{claim} on {environment.name}",
        done.regret,
        bound=bound(gaps, horizon),
        largest=largest_regret(environment, horizon),
        least_horizon=evidence.least_horizon(
            lambda t: bound(gaps, t), lambda t: largest_regret(environment, t)
        ),
        claim=claim,
        instance=environment.name,
        horizon=horizon,
    )
    return check, done.regret


def prices(
    claim: str,
    played: Sequence[tuple[Any, Any, Environment]],
    *,
    caption: str,
    budget: str,
    seed: int,
    workers: int,
) -> Check:
    """The price of privacy: a table of (private algorithm, algorithm without privacy, environment).

    Runs of the two are independent; what is played in several rows is played once.
    """
    done: dict[tuple[Any, Any], FloatArray] = {}

    def regret(player: Any, where: Environment, own_seed: int) -> FloatArray:
        key = (player, where)
        if key not in done:
            found = simulate(player, where, runs=TABLE_RUNS[budget], seed=own_seed, workers=workers, points=2)
            done[key] = found.regret
        return done[key]

    rows = [
        tables.row(
            regret(private, where, seed),
            regret(free, where, seed + _OTHER_SEED),
            instance=where.name,
            private=private.name,
            free=free.name,
            epsilon=float(original(private).epsilon),
            horizon=int(private.horizon),
        )
        for private, free, where in played
    ]
    return tables.prices(f"{claim}: price of privacy", rows, claim=claim, caption=caption)


class Interpreted:
    """Mixed into a mutant of an algorithm with a compiled loop, which would not know of its changes."""

    @property
    def kernel(self) -> Any:
        """There is none."""
        raise AttributeError("kernel")


def noise_times(factor: float, name: str, fault: str) -> Mutant:
    """A mutant with all noise multiplied by `factor`."""
    return Mutant(name, fault, lambda algorithm: AlteredNoise(algorithm, factor))


def regret_mutant(name: str, fault: str, kind: Callable[..., Any], caught_by: str) -> Mutant:
    """A mutant of the decisions: `kind` with the parameters of the algorithm."""
    return Mutant(name, fault, lambda algorithm: kind(**algorithm.parameters), "regret", caught_by)


HALF_NOISE = noise_times(0.5, "half noise", "every noise value is half as large as the proof needs")
NO_NOISE = noise_times(0.0, "no noise", "exact values are released and compared")


def first_round(table: FloatArray, bounds: tuple[float, float] = (0.0, 1.0)) -> TablePair:
    """`table` (T, K) with the low against the high reward of arm 0 in the first round."""
    left = np.array(table, dtype=np.float64)
    left[0, 0] = bounds[0]
    return TablePair(left, 0, 0, bounds[1], bounds)


def first_item(stream: FloatArray, bounds: tuple[float, float] = (0.0, 1.0)) -> StreamPair:
    """`stream` (T,) with the low against the high first item."""
    left = np.array(stream, dtype=np.float64)
    left[0] = bounds[0]
    return StreamPair(left, 0, bounds[1], 1, bounds)
