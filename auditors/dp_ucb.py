"""Auditor of DP-UCB: the first reward changed, a finite-sample bound that its proof gives, tree error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray
from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditing.auditor import Auditor, Mutant
from verifiable_dp.auditing.theorems import RUNS, TABLE_RUNS, TRIALS
from verifiable_dp.auditing.wrapped import AlteredNoise, original, with_parameters
from verifiable_dp.auditors import _index as family
from verifiable_dp.auditors._elimination import WIDE
from verifiable_dp.auditors._shared import HALF_NOISE, NO_NOISE, mean_regret, prices, regret_mutant, settings
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.environments import s1
from verifiable_dp.evidence import regret as evidence
from verifiable_dp.evidence.check import Check
from verifiable_dp.simulation import simulate

SHORT = 512  # horizon at which the tree's error is simulated
LATE = 10**7  # horizon at which the bound is active on C1
PRICES = (0.1, 0.25, 0.5, 1.0, 4.0)
RATE_RUNS = {"mutant": 6, "quick": 10, "standard": 30, "thorough": 100}


def width_failure(horizon: int, n_arms: int, levels: int, ratio: float) -> float:
    """Bound on the chance that any noisy prefix sum is off by more than `ratio` noise scales.

    Chernoff's bound for a sum of at most `levels` Laplace variables of scale 1, whose moment generating
    function is (1 - s^2)^-levels, twice (both signs), for K T prefix sums.
    """
    s = np.linspace(0.001, 0.999, 999)
    exponent = float(np.min(-s * ratio - levels * np.log1p(-(s**2))))
    return min(1.0, math.exp(min(0.0, math.log(2 * n_arms * horizon) + exponent)))


def regret_bound(gaps: FloatArray, horizon: float, *, epsilon: float, budget: str, gamma: float) -> float:
    """What the proof gives in numbers.

    sum_a Delta_a (u_a + 1 + pi^2/3) + delta T max Delta. u_a is the least n with
    2 sqrt(2 log T/n) + 2 Gamma/n <= Delta_a: after u_a pulls arm a is only played if a mean of rewards
    leaves its radius (Auer et al.) or a noisy sum is off by more than Gamma, which has probability
    delta <= gamma (`width_failure`).
    """
    gaps = np.asarray(gaps, dtype=np.float64)
    bad = gaps[gaps > 0]
    rule = DPUCB(len(gaps), epsilon, max(int(horizon), len(gaps)), budget, gamma)
    spread, width = math.sqrt(2 * math.log(rule.horizon)), rule.width
    root = (spread + np.sqrt(spread**2 + 2 * bad * width)) / bad  # of Delta n - 2 spread sqrt n - 2 Gamma
    failure = width_failure(rule.horizon, rule.n_arms, rule.mechanism.levels, width / rule.mechanism.scale)
    pulls = np.ceil(root**2) + 1 + math.pi**2 / 3
    return float(np.sum(bad * pulls)) + min(gamma, failure) * rule.horizon * float(gaps.max())


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> Iterator[Check]:
    """The derived bound on C1 to C4, and the error of the trees; with budget ``mutant`` on C2 alone."""
    rule = original(algorithm)

    def bound(gaps: FloatArray, horizon: float) -> float:
        return regret_bound(gaps, horizon, epsilon=rule.epsilon, budget=rule.budget, gamma=rule.gamma)

    for environment in settings(rule.n_arms, budget):
        yield mean_regret(
            algorithm,
            environment,
            bound,
            claim="regret",
            budget=budget,
            seed=seed,
            workers=workers,
            runs=2 * RUNS[budget],
        )[0]
    yield rate(algorithm, budget, seed)
    if budget != "mutant":
        yield late(algorithm, bound, budget, seed, workers)
        yield price(algorithm, budget, seed, workers)
    short = with_parameters(algorithm, horizon=SHORT)
    error = family.largest_tree_error(short, TRIALS[budget], seed)
    width = DPUCB(rule.n_arms, rule.epsilon, SHORT, rule.budget, rule.gamma).width
    yield evidence.probability(
        "width of the index",
        error > width,
        probability=rule.gamma,
        claim="width",
        horizon=SHORT,
        width=width,
        epsilon=rule.epsilon,
    )


def rate(algorithm: Any, budget: str, seed: int) -> Check:
    """Growth like log^3 T, as that of log^2 T log(KT log T/gamma), where gaps are wide and epsilon = 10."""
    points = []
    for number, t in enumerate(np.geomspace(1e5, 2e6, 10)):
        played = with_parameters(algorithm, n_arms=WIDE.n_arms, epsilon=10.0, horizon=int(t))
        done = simulate(played, WIDE, runs=RATE_RUNS[budget], seed=seed + number, points=2)
        points.append((int(t), done.regret))
    return evidence.scaling(
        f"rate on {WIDE.name}",
        points,
        log_power=3.0,
        margin=0.06,  # one factor log T more shows as +.08; the part like log T, and log(KT log T), as -.04
        claim="rate",
        instance=WIDE.name,
        epsilon=10.0,
    )


def late(algorithm: Any, bound: Any, budget: str, seed: int, workers: int) -> Check:
    """The derived bound on C1 at a horizon where it is active."""
    check, _ = mean_regret(
        with_parameters(algorithm, horizon=LATE),
        replace(s1("C1", algorithm.n_arms), name="C1, T = 1e7"),
        bound,
        claim="regret",
        budget=budget,
        seed=seed,
        workers=workers,
        runs=5,
    )
    return check


def price(algorithm: Any, budget: str, seed: int, workers: int) -> Check:
    """Regret over that of UCB1 on C2."""
    k, horizon = algorithm.n_arms, algorithm.horizon
    played = [
        (with_parameters(algorithm, epsilon=epsilon), UCB1(k, horizon), s1("C2", k)) for epsilon in PRICES
    ]
    return prices(
        "regret",
        played,
        caption=f"C2 with K = {k} arms, budget {original(algorithm).budget}: DP-UCB beside UCB1, "
        f"{TABLE_RUNS[budget]} runs of each.",
        budget=budget,
        seed=seed,
        workers=workers,
    )


def _levels(algorithm: Any) -> int:
    return int(original(algorithm).mechanism.levels)


class Redrawn(family.Redrawn, DPUCB):
    """See the family."""


class Bare(DPUCB):
    """An index that does not allow for the noise."""

    @property
    def width(self) -> float:
        """Gamma is left out."""
        return 0.0


class Pessimist(DPUCB):
    """A lower confidence bound where an upper one belongs."""

    @property
    def width(self) -> float:
        """Gamma with the wrong sign."""
        return -super().width


class Wide(DPUCB):
    """A width that is too large by log T."""

    @property
    def width(self) -> float:
        """Gamma log T."""
        return super().width * math.log(self.horizon)


_MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    Mutant(
        "tree off by one",
        "the budget is divided by one level less than an item enters",
        lambda algorithm: AlteredNoise(algorithm, 1 - 1 / _levels(algorithm)),
    ),
    Mutant(
        "budget log T",
        "a node gets epsilon / log T (natural) instead of epsilon / (floor(log2 T) + 1)",
        lambda algorithm: AlteredNoise(algorithm, math.log(algorithm.horizon) / _levels(algorithm)),
    ),
    Mutant(
        "re-drawn",
        "the whole sum is released at each pull, at the price of one node",
        lambda algorithm: Redrawn(**algorithm.parameters),
    ),
    Mutant(
        "one draw for all nodes",
        "an arm gets the same noise in every node, so that differences of nodes are exact",
        lambda algorithm: AlteredNoise(algorithm, reslot=family.same_node),
    ),
    regret_mutant(
        "bare index",
        "the index has no width for the noise, so that an unlucky draw loses the best arm",
        Bare,
        "regret on C2",
    ),
    regret_mutant(
        "pessimist",
        "the width of the noise is subtracted",
        Pessimist,
        "regret on C2",
    ),
    regret_mutant(
        "wide index",
        "the width is too large by a factor log T",
        Wide,
        "regret on C2",
    ),
)

CLAIMS = (
    RegretClaim(
        "rate",
        "The expected regret is O(K log^2 T log(KT log T/gamma)/epsilon + sum_a log T/Delta_a).",
        "O(K log^2 T log(KT log T/gamma)/epsilon + sum_a log T/Delta_a)",
        Source(
            papers.MISHRA,
            "Algorithm 1, regret",
            "a rate without constants: checked as log^3 T, where the first term decides",
        ),
        "scaling",
    ),
    RegretClaim(
        "regret",
        "The expected regret is at most sum_a Delta_a (u_a + 1 + pi^2/3) + delta T max Delta.",
        "u_a = min {n: 2 sqrt(2 log T/n) + 2 Gamma/n <= Delta_a}; "
        "delta = min(gamma, 2 K T min_s e^{-s Gamma/b} (1 - s^2)^{-levels}), b the scale of a node",
        Source(papers.MISHRA, "Algorithm 1", "derived: the proof of UCB1 with the width of the noise added"),
        "mean",
        regret_bound,
        "rewards in [0, 1]",
    ),
    RegretClaim(
        "width",
        "With probability 1 - gamma no noisy sum is off by more than Gamma.",
        "K log^2 T log(KT log T/gamma)/epsilon, without the factor K for the budget per arm",
        Source(papers.MISHRA, "Algorithm 1", "the event on which its proof rests; simulated"),
        "probability",
    ),
)

auditor = Auditor(
    algorithm=DPUCB,
    paper=papers.MISHRA,
    model="central",
    # Where an arm is pulled 8 of 15 times its first reward enters as many nodes as the budget pays for.
    instance={"n_arms": 2, "epsilon": 1.0, "horizon": 15, "budget": "per-arm"},
    small={"n_arms": 2, "epsilon": 1.0, "horizon": 7, "budget": "per-arm"},
    pairs=family.first_rewards,
    mutants=_MUTANTS,
    claims=CLAIMS,
    regret=regret,
    experiment={"n_arms": 5, "epsilon": 1.0, "horizon": 1_000_000, "budget": "per-arm"},
    longest=255,
    worst_cost=family.worst_cost,
)
