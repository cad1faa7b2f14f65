"""What auditors of several families share: instances, mutants of the noise, neighbours in the first round."""

from __future__ import annotations

import math

import numpy as np

from verifiable_dp.auditors._settings import s1
from verifiable_dp.core.claims import gdp_epsilon
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.neighbours import StreamPair, TablePair
from verifiable_dp.core.validate import FloatArray, Json
from verifiable_dp.registry.mutants import noise_times
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TheoremTrial
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__)
mutant = SHEET.mutant

HALF_NOISE = mutant("half noise", noise_times(0.5))
NO_NOISE = mutant("no noise", noise_times(0.0))
RHO_FOR_TWO = mutant("noise for twice the rho", noise_times(1 / math.sqrt(2)))
FROM_RHO: Json = {"worst_cost": lambda rule: gdp_epsilon(rule.mechanism.mu, rule.delta)}  # one release


def c1_to_c4(trial: TheoremTrial) -> list[TwoPoint]:
    """C1 to C4 of Sajed & Sheffet; C2 alone for a mutant."""
    return [s1(name, trial.rule.n_arms) for name in (("C2",) if trial.mutant else ("C1", "C2", "C3", "C4"))]


def c2(trial: TheoremTrial) -> list[TwoPoint]:
    """C2 of Sajed & Sheffet."""
    return [s1("C2", trial.rule.n_arms)]


def one_release(rule: Listed) -> float:
    """Largest loss where a reward enters one release, whatever its epoch."""
    mechanism = rule.mechanism(1, 1) if callable(rule.mechanism) else rule.mechanism
    return float(mechanism.cost())


def whole_budget(rule: Listed) -> float:
    """Largest loss where one release may cost all of epsilon: a clipped item moves by its range."""
    return float(rule.epsilon)


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
