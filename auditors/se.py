"""Auditor of SE, the non-private elimination: it is caught leaking, and held to its regret."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.se import SE, radius
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors._first_neighbours import c1_to_c4, first_round
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry.mutants import gap_times, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TRIALS, MeanBound, Pulls, Survival, TheoremTrial
from verifiable_dp.registry.wrapped import with_parameters

SHEET = Sheet(__file__, papers.EVEN_DAR)
claim, mutant = SHEET.claim, SHEET.mutant

BETA = 0.1  # of the checks that speak of probability
SMALL_GAP = 0.1
SHORT = {"n_arms": 3, "horizon": 5000, "beta": BETA}
DERIVED = "successive elimination, derived"


def pulls_bound(gaps: FloatArray, rule: SE) -> FloatArray:
    """Least r with 4 radius(r) < Delta, for gaps (m,): by then arm a has left, if all radii hold."""
    beta = float(rule.beta or 1 / rule.horizon)
    return np.array([_sweeps(float(gap), rule.n_arms, beta) for gap in np.asarray(gaps)])


def _sweeps(gap: float, n_arms: int, beta: float) -> float:
    # The radius falls from r = 3 on at the latest, and exceeds 1/4 before.
    low, high = 1, 2
    while 4 * float(radius(n_arms, float(high), beta)) >= gap:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        small = 4 * float(radius(n_arms, float(middle), beta)) < gap
        low, high = (low, middle) if small else (middle, high)
    return float(high)


def regret_bound(gaps: FloatArray, rule: SE) -> float:
    """Sum of Delta_a times the bound on pulls at beta = 1/T, plus 1."""
    gaps = np.asarray(gaps)
    bad = gaps[gaps > 0]
    return float(np.sum(bad * pulls_bound(bad, with_parameters(rule, beta=None)))) + 1


STEP = 1.1  # ratio of the ends of two blocks of sweeps


def safe_sweeps(gap: float, n_arms: int, beta: float, eta: float) -> int:
    """Sweeps up to which an arm with this gap stays, with probability 1 - eta.

    In sweep r it leaves only if the sum S of r differences exceeds r (2 radius(r)), that is its mean r Delta
    by x(r) = r (2 radius(r) - Delta). Differences of rewards in [0, 1] are 1/2-sub-Gaussian, so that S - r
    Delta exceeds x by sweep n with probability exp(-x^2/n) at most (Doob); the union is over blocks of
    sweeps that end at n = 1.1^j, each with its least x.
    """
    left, total, start = eta, 0, 1
    while True:
        end = max(start, math.floor(start * STEP))
        sweeps = np.arange(start, end + 1, dtype=np.float64)
        least = float(np.min(sweeps * (2 * radius(n_arms, sweeps, beta) - gap)))
        left -= math.exp(-(least**2) / end) if least > 0 else 1.0
        if left < 0:
            return total
        total, start = end, end + 1


def least_sweeps(trial: TheoremTrial) -> Iterator[Check]:
    """The worse of two arms stays as long as `safe_sweeps`; half the threshold removes it sooner."""
    sweeps = safe_sweeps(SMALL_GAP, 2, BETA, BETA)
    where = bernoulli([0.5 + SMALL_GAP / 2, 0.5 - SMALL_GAP / 2], "a small gap")
    done = trial.changed(n_arms=2, horizon=4 * sweeps, beta=BETA).play(where, TRIALS)
    yield trial.probability(
        f"on {where.name}",
        done.pulls[:, 1] < sweeps,
        BETA,
        instance=where.name,
        horizon=4 * sweeps,
        sweeps=sweeps,
    )


def mean_regret(trial: TheoremTrial) -> Iterator[Check]:
    """On C1 to C4; of a mutant, which has no compiled loop, at T = 2e4."""
    return MeanBound(c1_to_c4, {"horizon": 20_000, "beta": None} if trial.mutant else {})(trial)


def pairs(algorithm: SE) -> list[TablePair]:
    """Arm 0 pays always, the others never: the first reward decides in which sweep they leave."""
    table = np.zeros((algorithm.horizon, algorithm.n_arms))
    table[:, 0] = 1.0
    other = 1 - table
    return [first_round(table), first_round(other), first_round(np.full(table.shape, 0.5))]


PULLS = Pulls(family.LARGE_GAPS, SHORT, DERIVED)
SURVIVAL = Survival(family.NEAR_TIES, SHORT, DERIVED)
MUTANTS = (
    mutant("hasty", gap_times(1 / 8), SURVIVAL),
    mutant("half threshold", gap_times(1 / 2), least_sweeps),
    mutant("greedy", gap_times(0), SURVIVAL),
    mutant("timid", gap_times(6), PULLS),
    family.inverted(PULLS),
    mutant(
        "forgetting",
        result("compared", lambda rule, mean, state, released: released / state.epoch[:, None]),
        PULLS,
    ),
    mutant(
        "off by one",
        result("removed", lambda rule, gone, state, released: np.roll(gone, 1, axis=1) & state.active),
        PULLS,
    ),
)

CLAIMS = (
    claim("elimination", pulls_bound, [PULLS, SURVIVAL]),
    claim("least-sweeps", safe_sweeps, [least_sweeps]),
    claim("regret", regret_bound, [mean_regret]),
)

auditor = SHEET.auditor(SE, pairs, MUTANTS, CLAIMS)
