"""Auditor of DP-UCB: the first reward changed, a finite-sample bound that its proof gives, tree error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _index as family
from verifiable_dp.auditors._elimination import WIDE
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE, c1_to_c4, c2
from verifiable_dp.auditors._settings import s1
from verifiable_dp.core.environments import bernoulli
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.scaling import scaling
from verifiable_dp.registry.mutants import mixed, noise_times, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import RUNS, TRIALS, CorrectOnly, MeanBound, Prices, TheoremTrial

SHEET = Sheet(__file__, papers.MISHRA)
claim, mutant = SHEET.claim, SHEET.mutant

OVER_ARMS = (2, 3, 5, 9, 17)
RATE_RUNS = {"mutant": 6, "quick": 10, "standard": 30, "thorough": 100}


def width_failure(horizon: int, n_arms: int, levels: int, ratio: float) -> float:
    """Bound on the chance that any noisy prefix sum is off by more than `ratio` noise scales.

    Chernoff's bound for a sum of at most `levels` Laplace variables of scale 1, whose moment generating
    function is (1 - s^2)^-levels, twice (both signs), for K T prefix sums.
    """
    s = np.linspace(0.001, 0.999, 999)
    exponent = float(np.min(-s * ratio - levels * np.log1p(-(s**2))))
    return min(1.0, math.exp(min(0.0, math.log(2 * n_arms * horizon) + exponent)))


def regret_bound(gaps: FloatArray, rule: DPUCB) -> float:
    """What the proof gives in numbers.

    sum_a Delta_a (u_a + 1 + pi^2/3) + delta T max Delta. u_a is the least n with
    2 sqrt(2 log T/n) + 2 Gamma/n <= Delta_a: after u_a pulls arm a is only played if a mean of rewards
    leaves its radius (Auer et al.) or a noisy sum is off by more than Gamma, which has probability
    delta <= gamma (`width_failure`).
    """
    gaps = np.asarray(gaps, dtype=np.float64)
    bad = gaps[gaps > 0]
    width = rule.width
    failure = width_failure(rule.horizon, rule.n_arms, rule.mechanism.levels, width / rule.mechanism.scale)
    pulls = np.ceil(closed_forms.ucb_pulls(bad, rule.horizon, width)) + 1 + math.pi**2 / 3
    return float(np.sum(bad * pulls)) + min(rule.gamma, failure) * rule.horizon * float(gaps.max())


def rate(trial: TheoremTrial) -> Iterator[Check]:
    """Growth like log^3 T, as that of log^2 T log(KT log T/gamma), where gaps are wide and epsilon = 10."""
    points = []
    for number, t in enumerate(np.geomspace(1e5, 2e6, 10)):
        played = trial.changed(n_arms=WIDE.n_arms, epsilon=10.0, horizon=int(t))
        points.append((int(t), played.play(WIDE, RATE_RUNS, seed=trial.seed + number).regret))
    yield scaling(
        f"rate on {WIDE.name}",
        points,
        log_power=3.0,
        margin=0.06,  # one factor log T more shows as +.08; the part like log T, and log(KT log T), as -.04
        claim="rate",
        instance=WIDE.name,
        epsilon=10.0,
    )


def over_arms(trial: TheoremTrial) -> Iterator[Check]:
    """Growth with K at a gap of .8 and epsilon = 10: like K - 1 for the budget per arm, K (K - 1) if split.

    Each of K - 1 arms is pulled in proportion to Gamma, and the split budget puts a factor K into it.
    """
    for budget, words in (("per-arm", "K - 1"), ("split", "K (K - 1)")):
        points = []
        for number, k in enumerate(OVER_ARMS):
            where = bernoulli([0.9, *[0.1] * (k - 1)], f"gaps of .8, K = {k}")
            played = trial.changed(n_arms=k, epsilon=10.0, horizon=2_000_000, budget=budget)
            x = k - 1 if budget == "per-arm" else k * (k - 1)
            points.append((x, played.play(where, RATE_RUNS, seed=trial.seed + number).regret))
        yield scaling(
            f"rate over {words}",
            points,
            exponent=1.0,
            log_power=0.0,
            margin=0.1,  # log K beside log T
            claim="rate",
            instance="one arm of mean .9, the others .1",
            over=words,
            epsilon=10.0,
            budget=budget,
        )


def width(trial: TheoremTrial) -> Iterator[Check]:
    """The error of the trees at T = 512."""
    short = trial.changed(horizon=512)
    rule = short.rule
    error = family.largest_tree_error(short.algorithm, trial.runs(TRIALS), trial.seed)
    yield trial.probability(
        "of the index",
        error > rule.width,
        rule.gamma,
        horizon=rule.horizon,
        width=rule.width,
        epsilon=rule.epsilon,
    )


MEANS = MeanBound(c1_to_c4, runs={budget: 2 * runs for budget, runs in RUNS.items()})
# The bound is active on C1 at T = 1e7.
LATE = MeanBound(
    lambda trial: [replace(s1("C1", trial.rule.n_arms), name="C1, T = 1e7")], {"horizon": 10**7}, 5
)
PRICE = Prices(
    lambda rule: UCB1(rule.n_arms, rule.horizon), c2, (0.1, 0.25, 0.5, 1.0, 4.0), SHEET.words("price")
)


MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    mutant("one level too few", noise_times(lambda rule: 1 - 1 / rule.mechanism.levels)),
    mutant("budget log T", noise_times(lambda rule: math.log(rule.horizon) / rule.mechanism.levels)),
    mutant("re-drawn", mixed(family.Redrawn)),
    mutant("one draw for all nodes", family.SAME_NODE),
    mutant("bare index", result("width", lambda rule, width: 0.0, compiled=True), MEANS),
    mutant("pessimist", result("width", lambda rule, width: -width, compiled=True), MEANS),
    mutant(
        "wide index",
        result("width", lambda rule, width: width * math.log(rule.horizon), compiled=True),
        MEANS,
    ),
)

CLAIMS = (
    claim("rate", checks=[rate, CorrectOnly(over_arms)]),
    claim("regret", regret_bound, [MEANS, CorrectOnly(LATE), CorrectOnly(PRICE)]),
    claim("width", checks=[width]),
)

auditor = SHEET.auditor(DPUCB, family.first_rewards, MUTANTS, CLAIMS, worst_cost=family.worst_cost)
