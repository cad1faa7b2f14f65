"""Auditor of DP-SE: tables near the threshold; Lemma 4.2, Theorem 4.3 and the comparison of Section 5."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.se import SE
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors._first_neighbours import c1_to_c4, one_release
from verifiable_dp.auditors._settings import s1
from verifiable_dp.core.environments import TwoPoint, bernoulli
from verifiable_dp.core.simulation import Simulation
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.registry.mutants import borrowed, epochs_times, gap_times
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import (
    TRIALS,
    Better,
    CorrectOnly,
    Exponent,
    Growth,
    MeanBound,
    Prices,
    Pulls,
    Survival,
    TheoremTrial,
)

SHEET = Sheet(__file__, papers.S1)
claim, mutant = SHEET.claim, SHEET.mutant

RIVAL_RUNS = {"quick": 6, "standard": 30, "thorough": 30}  # of DP-UCB, as in Section 5
SHORT = {"n_arms": 3, "horizon": 100_000, "beta": 0.1}  # of Lemma 4.2
LATE = {"horizon": 10**12, "beta": None}  # where all bounds are active
FEW = 1e-3  # the largest epsilon at which the noise decides for gaps of .8


def pulls_bound(gaps: FloatArray, rule: DPSE) -> FloatArray:
    """Lemma 4.2: log(K log(2/Delta)/beta) (1024/Delta^2 + 96/(epsilon Delta)), for gaps (m,)."""
    gaps = np.asarray(gaps, dtype=np.float64)
    log = np.log(rule.n_arms * np.log(2 / gaps) / float(rule.beta or 1))
    return np.asarray(log * (1024 / gaps**2 + 96 / (rule.epsilon * gaps)))


def regret_bound(gaps: FloatArray, rule: DPSE) -> float:
    """Theorem 4.3 with constants: sum over Delta_a > 0 of 3072 log T/Delta_a + 288 log T/epsilon, plus 1."""
    gaps = np.asarray(gaps, dtype=np.float64)
    gaps = gaps[gaps > 0]
    return float(np.sum(3072 / gaps + 288 / rule.epsilon) * math.log(rule.horizon)) + 1


def summed_regret_bound(gaps: FloatArray, rule: DPSE) -> float:
    """Theorem 4.3 without Lemma 4.2's rounding: the epochs up to the one that removes an arm, summed."""
    return closed_forms.dp_se(np.asarray(gaps, dtype=np.float64), rule.horizon, rule.epsilon)


def minimax_regret_bound(gaps: FloatArray, rule: DPSE) -> float:
    """Theorem 4.4 with constants: 2 sqrt(3072 K T log T) + 288 K log T/epsilon + 1, whatever the gaps.

    Arms with gaps below D = sqrt(3072 K log T/T) cost T D together, the others as in Theorem 4.3.
    """
    k, log = rule.n_arms, math.log(rule.horizon)
    return 2 * math.sqrt(3072 * k * rule.horizon * log) + 288 * k * log / rule.epsilon + 1


def summed_minimax_bound(gaps: FloatArray, rule: DPSE) -> float:
    """Theorem 4.4 with the epochs summed, whatever the gaps; derived in `_closed_forms.dp_se_minimax`."""
    return closed_forms.dp_se_minimax(rule.n_arms, rule.horizon, rule.epsilon)


def samples_bound(gaps: FloatArray, rule: DPSE) -> float:
    """Pulls until one arm is left, by Lemma 4.2: of each suboptimal arm, and of the best as of the last."""
    bad = np.asarray(gaps, dtype=np.float64)
    pulls = pulls_bound(bad[bad > 0], rule)
    return float(pulls.sum() + pulls.max())


def samples(done: Simulation, best: int) -> FloatArray:
    """Pulls until one arm was left, (runs,); infinite where that is not the best one, or more are."""
    assert done.active is not None
    others = np.delete(done.pulls, best, axis=1)
    found = done.active[:, best] & (done.active.sum(axis=1) == 1)
    return np.where(found, others.sum(axis=1) + others.max(axis=1), np.inf)


def identified(trial: TheoremTrial) -> Iterator[Check]:
    """The arm that is left at the end is the best one, and no more samples than the bound were taken."""
    trial = trial.changed(n_arms=3, horizon=10**8, beta=0.1)
    where = family.LARGE_GAPS
    most = trial.bound(where.gaps)(trial.rule.horizon)
    taken = samples(trial.play(where, TRIALS), int(np.argmin(where.gaps)))
    yield trial.probability(
        f"on {where.name}",
        taken > most,
        float(trial.rule.beta),
        vacuous=most >= trial.rule.horizon,
        least_horizon=math.floor(most) + 1,
        bound=most,
        instance=where.name,
        horizon=trial.rule.horizon,
    )


def identification_costs(trial: TheoremTrial) -> Iterator[Check]:
    """Samples grow like 1/Delta^2 where sampling decides, and like 1/(epsilon Delta) where privacy does."""
    ranges = (
        ("1/Delta", "epsilon = 10", 2.0, [(1 / g, g, 10.0) for g in 0.09 * 0.5 ** np.arange(6)]),
        ("1/epsilon", "gap .8", 1.0, [(1 / e, 0.8, e) for e in FEW * 0.5 ** np.arange(6)]),
    )
    for over, words, exponent, grid in ranges:
        points = []
        for x, gap, epsilon in grid:
            played = trial.changed(n_arms=3, horizon=10**15, beta=1e-12, epsilon=float(epsilon))
            where = bernoulli([0.9, *[0.9 - gap] * 2])
            taken = samples(played.play(where), 0)
            points.append((float(x), np.where(np.isfinite(taken), taken, 1e15)))
        yield scaling(
            f"best-arm samples over {over}",
            points,
            exponent=exponent,
            log_power=0.0,
            margin=0.1,
            claim="best-arm",
            instance=f"three arms, {words}",
            over=over,
        )


def minimax(trial: TheoremTrial) -> Iterator[Check]:
    """Regret where all other arms lie behind by four times the bound over T: uniform play has twice it."""
    trial = trial.changed(horizon=10**9, beta=None)
    k, bound = trial.rule.n_arms, trial.claim.bound
    assert bound is not None
    gap = min(4 * bound(np.zeros(k), trial.rule) / trial.rule.horizon, 1.0)
    means = [0.5 + gap / 2, *[0.5 - gap / 2] * (k - 1)]
    where = bernoulli(means, "gaps of 4 bound/T")
    return MeanBound([where])(trial)


def equal(n_arms: int, gap: float) -> TwoPoint:
    """One good arm, and others with the same gap."""
    return bernoulli([0.9, *[0.9 - gap] * (n_arms - 1)], f"{n_arms} arms, gaps of {gap:.3g}")


# Ends of the ranges of T, K, epsilon and Delta.
ENDS: Sequence[tuple[TwoPoint, dict[str, object]]] = (
    (s1("C1"), {"epsilon": 0.25}),
    (s1("C2"), {"epsilon": 0.25, "horizon": 10**7}),
    (s1("C4", 20), {"epsilon": 10.0, "horizon": 10**15}),
    (equal(257, 0.8), {"epsilon": FEW}),
    (equal(5, 0.8), {"epsilon": FEW / 32}),
    (equal(5, 0.09 / 32), {"epsilon": 10.0}),
    (equal(2, 0.4), {"epsilon": 1.0}),
)


def summed(trial: TheoremTrial) -> Iterator[Check]:
    """Mean regret against the sum of the epochs at the ends of the range of every symbol."""
    for where, changes in ENDS:
        yield from MeanBound([where], {**LATE, "n_arms": where.n_arms, **changes})(trial)


def c1_late(trial: TheoremTrial) -> list[TwoPoint]:
    """C1 where its bound is active: at 5e7 it exceeds T times the gap."""
    return [replace(s1("C1", trial.rule.n_arms), name="C1, T = 1e12")]


PULLS, SURVIVAL = Pulls(family.LARGE_GAPS, SHORT), Survival(family.NEAR_TIES, SHORT)
# At epsilon = 10 sampling decides and not the noise: half the threshold would not do.
CROWDED = Survival(
    family.CROWD, {"epsilon": 10.0, "horizon": 10**15, "beta": family.CROWD_BETA}, runs=family.CROWD_RUNS
)

# A further factor log T would show as a slope of +.065 and +.049; the constant beside log T shows as about
# -.01. The range of C2 begins where all its arms can be told apart.
RANGES = ((family.WIDE, 1e5, 5e8), (s1("C2"), 1e7, 1e11))
OVER_TIME = Growth(RANGES, log_power=1)

# The two terms of Theorem 4.3 are active in turn: 288 log T/epsilon an arm for gaps of .8 at epsilon = .001
# and below, where the noise decides, and 3072 log T/Delta for epsilon = 10. Gaps are halved, so that they lie
# alike between two thresholds. The margin is for log(K log(2/Delta) T) beside log T.


def _point(x: float, n_arms: int, low: float, epsilon: float) -> tuple[float, TwoPoint, dict[str, object]]:
    where = bernoulli([0.9, *[low] * (n_arms - 1)])
    return x, where, {**LATE, "n_arms": n_arms, "epsilon": epsilon}


OVER_ARMS = Exponent(
    "K",
    "number of suboptimal arms",
    "gap .8, epsilon = .001",
    [_point(k - 1, k, 0.1, FEW) for k in (9, 17, 33, 65, 129, 257)],
)
EXPONENTS = (
    OVER_ARMS,
    Exponent(
        "epsilon",
        "1/epsilon",
        "five arms, gap .8",
        [_point(1 / e, 5, 0.1, e) for e in FEW * 0.5 ** np.arange(6)],
    ),
    Exponent(
        "Delta",
        "1/Delta",
        "five arms, epsilon = 10",
        [_point(1 / g, 5, 0.9 - g, 10.0) for g in 0.09 * 0.5 ** np.arange(6)],
    ),
)

PRICE = Prices(
    lambda rule: SE(rule.n_arms, rule.horizon),
    c1_to_c4,
    (0.01, 0.05, 0.1, 0.25, 1.0),
    SHEET.words("price"),
    {"horizon": 10**7, "beta": None},
)

CLAIMS = (
    claim("lemma-4.2", pulls_bound, [PULLS, SURVIVAL, CROWDED]),
    claim(
        "theorem-4.3",
        regret_bound,
        [
            MeanBound(c1_to_c4),
            *EXPONENTS,
            CorrectOnly(MeanBound(c1_late, LATE)),
            CorrectOnly(PRICE),
            OVER_TIME,
        ],
    ),
    claim("theorem-4.3-summed", summed_regret_bound, [CorrectOnly(summed)]),
    claim("theorem-4.4", minimax_regret_bound, [minimax]),
    claim("theorem-4.4-summed", summed_minimax_bound, [CorrectOnly(minimax)]),
    claim("best-arm", samples_bound, [identified, CorrectOnly(identification_costs)]),
    claim(
        "section-5",
        checks=[
            CorrectOnly(
                Better(
                    lambda rule: DPUCB(rule.n_arms, rule.epsilon, rule.horizon),
                    "dp-ucb, budget split as printed",
                    5.0,
                    c1_to_c4,
                    RIVAL_RUNS,
                )
            )
        ],
    ),
)

# Gives each arm epsilon/K, in the noise and in the epochs' lengths.
SPLIT_BUDGET = borrowed(
    lambda rule: DPSE(rule.n_arms, rule.epsilon / rule.n_arms, rule.horizon, rule.beta),
    "schedule",
    "mechanism",
)

MUTANTS = (
    *family.PRIVACY_MUTANTS,
    mutant("hasty", gap_times(1 / 8), SURVIVAL),
    mutant("timid", gap_times(8), PULLS),
    family.inverted(PULLS),
    mutant("epsilon/K per arm", SPLIT_BUDGET, OVER_ARMS),
    mutant("half threshold", gap_times(1 / 2), CROWDED),
    mutant("long epochs", epochs_times(lambda rule: math.log(1 / rule.beta) / 4), OVER_TIME),
)

auditor = SHEET.auditor(DPSE, family.pairs, MUTANTS, CLAIMS, worst_cost=one_release)
