"""What the auditors of the elimination family share: neighbours near the threshold, and mutants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.auditors._first_neighbours import HALF_NOISE
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.registry import mutants
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import Checking
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__)
mutant = SHEET.mutant

WIDE = bernoulli([0.95, 0.35, 0.25, 0.15, 0.05], "wide gaps")
NEAR_TIES = bernoulli([0.51, 0.5, 0.5, 0.5, 0.5], "near ties")
LARGE_GAPS = bernoulli([0.9, 0.3, 0.1], "large gaps")
# The failure probability of half a threshold falls like sqrt(beta), that of a whole one faster than beta.
CROWD = bernoulli([0.5 + 1e-9, *[0.5] * 99], "a hundred near ties")
CROWD_BETA, CROWD_RUNS = 0.005, 1000

# ---------------------------------------------------------------- neighbours


@dataclass(frozen=True)
class Epoch:
    """An epoch of a known schedule: first round, pulls of each arm, threshold of the gap of means, |S|."""

    start: int
    pulls: int
    limit: float
    size: int


def first_epochs(rule: Listed) -> list[Epoch]:
    """The first epoch of all arms, and the second one of two arms if it fits."""
    pulls, gap = rule.schedule
    k = rule.n_arms
    first, second = int(pulls[1, k]), int(pulls[2, 2])
    epochs = [Epoch(0, first, float(gap[1, k]), k)]
    if k * first + 2 * second <= rule.horizon:
        epochs.append(Epoch(k * first, second, float(gap[2, 2]), 2))
    return epochs


def pairs(rule: Listed) -> list[TablePair]:
    """Tables near the thresholds of the first two epochs."""
    return near_threshold(rule.n_arms, rule.horizon, rule.epsilon, first_epochs(rule))


def near_threshold(n_arms: int, horizon: int, epsilon: float, epochs: Sequence[Epoch]) -> list[TablePair]:
    """Tables whose arms 0 and 1 end an epoch near its threshold; other arms pay nothing.

    The exact gap of sums is the threshold less x / epsilon, x = 0 .. 4 in units of the noise; the changed
    reward is the epoch's first of arm 0 or of arm 1. With two epochs also pairs in which the first one
    keeps both arms, so that a second release is sure to come.
    """
    if not epochs:  # too short for a release; any neighbours will do
        epochs = [Epoch(0, max(1, horizon // n_arms), 0.0, n_arms)]
    pairs = []
    if len(epochs) > 1:
        pairs += [_pair(n_arms, horizon, epsilon, epochs, [12.0, 1.0], changed, 0) for changed in (0, 1)]
    for x in (2.0, 0.0, 1.0, 3.0, 4.0):
        for arm in (0, 1):
            pairs.append(_pair(n_arms, horizon, epsilon, epochs, [x] * len(epochs), 0, arm))
    return pairs


def _pair(
    n_arms: int,
    horizon: int,
    epsilon: float,
    epochs: Sequence[Epoch],
    below: Sequence[float],
    changed: int,
    arm: int,
) -> TablePair:
    table = np.zeros((horizon, n_arms))
    place, entry = 0, 0.0
    for number, (epoch, x) in enumerate(zip(epochs, below, strict=True)):
        gap = max(epoch.limit - x / (epsilon * epoch.pulls), 0.0)
        high = np.array([0.5 + gap / 2, 0.5 - gap / 2])
        table[epoch.start :, :2] = np.clip(high, 0, 1)
        if number == changed:
            place = min(epoch.start + arm, horizon - 1)
            # What the changed entry lacks against its arm's mean is spread over the arm's other pulls.
            lacking = table[place, arm] - (1.0 if arm else 0.0)
            table[epoch.start :, arm] += lacking / max(epoch.pulls - 1, 1)
            entry = 1.0 if arm else 0.0
    table = np.clip(table, 0, 1)
    table[place, arm] = entry
    return TablePair(table, place, arm, 1.0 - entry)


# ---------------------------------------------------------------- mutants

SHARED_BY_ARMS = mutant("one draw for all arms", mutants.SHARED_BY_ARMS)
NO_FORGETTING = mutant("no forgetting", mutants.Unforgetting)
RAW = mutant("raw comparison", mutants.noise_times(0.0))
SHARED_BY_EPOCHS = mutant("one draw for all epochs", mutants.SHARED_BY_EPOCHS)


def mean_noise(scale: str) -> Mutant:
    """Sums with the noise that is meant for means, of that `scale`."""
    return mutant("sums with the noise of means", mutants.MEAN_NOISE, scale=scale)


PRIVACY_MUTANTS = (
    HALF_NOISE,
    SHARED_BY_ARMS,
    NO_FORGETTING,
    RAW,
    mean_noise("1/(epsilon R)"),
    SHARED_BY_EPOCHS,
)


def inverted(caught_by: Checking) -> Mutant:
    """The comparison is turned round."""
    return mutant("inverted", mutants.INVERTED, caught_by)
