"""Auditor of DP-SE: tables near the threshold; Lemma 4.2, Theorem 4.3 and the comparison of Section 5."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verifiable_dp._validate import FloatArray, IntArray
from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._elimination import EliminationState
from verifiable_dp.algorithms.dp_se import DPSE, epoch_length, threshold
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.se import SE
from verifiable_dp.auditing.auditor import Auditor, Mutant
from verifiable_dp.auditors import _elimination as family
from verifiable_dp.auditors._shared import (
    RUNS,
    TABLE_RUNS,
    mean_regret,
    original,
    prices,
    regret_mutant,
    settings,
    with_parameters,
)
from verifiable_dp.claims import RegretClaim, Source
from verifiable_dp.environments import TwoPoint, bernoulli, s1
from verifiable_dp.evidence import regret as evidence
from verifiable_dp.evidence.check import Check
from verifiable_dp.mechanisms import Laplace
from verifiable_dp.neighbours import TablePair
from verifiable_dp.simulation import simulate

EXPERIMENT = {"n_arms": 5, "epsilon": 0.25, "horizon": 50_000_000}
RIVAL_RUNS = {"quick": 6, "standard": 30, "thorough": 30}  # of DP-UCB, as in Section 5
BETA = 0.1  # of Lemma 4.2's check
MINIMAX = 10**9  # horizon of Theorem 4.4's check
LARGE_GAPS = bernoulli([0.9, 0.3, 0.1], "large gaps")


def pulls_bound(gaps: FloatArray, n_arms: int, epsilon: float, beta: float) -> FloatArray:
    """Lemma 4.2: log(K log(2/Delta)/beta) (1024/Delta^2 + 96/(epsilon Delta)), for gaps (m,)."""
    gaps = np.asarray(gaps, dtype=np.float64)
    return np.asarray(np.log(n_arms * np.log(2 / gaps) / beta) * (1024 / gaps**2 + 96 / (epsilon * gaps)))


def regret_bound(gaps: FloatArray, horizon: float, epsilon: float) -> float:
    """Theorem 4.3 with constants: sum over Delta_a > 0 of 3072 log T/Delta_a + 288 log T/epsilon, plus 1."""
    gaps = np.asarray(gaps, dtype=np.float64)
    gaps = gaps[gaps > 0]
    return float(np.sum(3072 / gaps + 288 / epsilon) * math.log(horizon)) + 1


def minimax_regret_bound(n_arms: int, horizon: float, epsilon: float) -> float:
    """Theorem 4.4 with constants: 2 sqrt(3072 K T log T) + 288 K log T/epsilon + 1, whatever the gaps.

    Arms with gaps below D = sqrt(3072 K log T/T) cost T D together, the others as in Theorem 4.3.
    """
    log = math.log(horizon)
    return 2 * math.sqrt(3072 * n_arms * horizon * log) + 288 * n_arms * log / epsilon + 1


def minimax_regret(algorithm: Any, budget: str, seed: int, workers: int) -> Check:
    """Regret where all other arms lie behind by the least gap that could break the bound twice over."""
    played = with_parameters(algorithm, horizon=MINIMAX, beta=None)
    k, epsilon = played.n_arms, original(played).epsilon
    gap = min(2 * minimax_regret_bound(k, MINIMAX, epsilon) / MINIMAX, 1.0)
    means = [0.5 + gap / 2, *[0.5 - gap / 2] * (k - 1)]
    check, _ = mean_regret(
        played,
        bernoulli(means, "gaps of twice the bound over T"),
        lambda gaps, t: minimax_regret_bound(k, t, epsilon),
        claim="theorem-4.4",
        budget=budget,
        seed=seed,
        workers=workers,
    )
    return check


# A further factor log T would show as a slope of +.065 and +.049; the constant beside log T shows as about
# -.01. The range of C2 begins where all its arms can be told apart.
RANGES = ((family.WIDE, 1e5, 5e8), (s1("C2"), 1e7, 1e11))


def rate_checks(
    algorithm: Any,
    ranges: Sequence[tuple[TwoPoint, float, float]] = RANGES,
    *,
    log_power: float,
    claim: str,
    budget: str,
    seed: int,
) -> list[Check]:
    """Growth like (log T)^log_power at 16 horizons in each range (environment, least T, largest T)."""
    checks = []
    for environment, low, high in ranges:
        horizons = [int(t) for t in np.geomspace(low, high, 16)]
        points = []
        for t in horizons:
            played = with_parameters(algorithm, horizon=t, beta=None)
            points.append((t, simulate(played, environment, runs=RUNS[budget], seed=seed, points=2).regret))
        checks.append(
            evidence.scaling(
                f"{claim} rate on {environment.name}",
                points,
                log_power=log_power,
                margin=0.03,
                claim=claim,
                instance=environment.name,
            )
        )
    return checks


def crowded(algorithm: Any, budget: str, seed: int) -> Check:
    """Survival among a hundred arms that are all but tied, where half the threshold would not do.

    At epsilon = 10 sampling decides and not the noise.
    """
    played = with_parameters(
        algorithm, n_arms=family.CROWD.n_arms, epsilon=10.0, horizon=10**15, beta=family.CROWD_BETA
    )
    return family.survives(
        played,
        "lemma-4.2",
        family.CROWD,
        beta=family.CROWD_BETA,
        budget=budget,
        seed=seed,
        source="Lemma 4.2",
        runs=family.CROWD_RUNS,
    )


PRICES = (0.01, 0.05, 0.1, 0.25, 1.0)


def price(algorithm: Any, budget: str, seed: int, workers: int) -> Check:
    """Regret over that of SE on C1 to C4."""
    k, horizon = algorithm.n_arms, 10**7
    played = [
        (with_parameters(algorithm, epsilon=epsilon, horizon=horizon, beta=None), SE(k, horizon), where)
        for where in settings(k, budget)
        for epsilon in PRICES
    ]
    return prices(
        "theorem-4.3",
        played,
        caption=f"C1 to C4 with K = {k} arms, beta = 1/T: DP-SE beside SE, {TABLE_RUNS[budget]} runs each.",
        budget=budget,
        seed=seed,
        workers=workers,
    )


def late(algorithm: Any, budget: str, seed: int, workers: int) -> Check:
    """Theorem 4.3 on C1 at a horizon where its bound is active: at 5e7 it exceeds T times the gap."""
    check, _ = mean_regret(
        with_parameters(algorithm, horizon=LAW, beta=None),
        replace(s1("C1", algorithm.n_arms), name="C1, T = 1e12"),
        lambda gaps, t: regret_bound(gaps, t, original(algorithm).epsilon),
        claim="theorem-4.3",
        budget=budget,
        seed=seed,
        workers=workers,
    )
    return check


FEW = 1e-3  # epsilon at which the noise decides about the gap .8
LAW = 10**12  # horizon of the exponents over other quantities


def exponents(algorithm: Any, budget: str, seed: int) -> list[Check]:
    """Exponents of Theorem 4.3 over K - 1 and 1/epsilon where the noise decides, and over 1/Delta.

    The two terms are active in turn: 288 log T/epsilon an arm for gaps of .8 at epsilon = .001 and below,
    3072 log T/Delta for epsilon = 10. Gaps are halved, so that they lie alike between two thresholds.
    """
    common: dict[str, Any] = {"horizon": LAW, "beta": None}

    def point(x: float, means: Sequence[float], epsilon: float) -> tuple[float, FloatArray]:
        played = with_parameters(algorithm, n_arms=len(means), epsilon=epsilon, **common)
        return x, simulate(played, bernoulli(means), runs=RUNS[budget], seed=seed, points=2).regret

    arms = [point(k - 1, [0.9, *[0.1] * (k - 1)], FEW) for k in (9, 17, 33, 65, 129, 257)]
    budgets = [point(1 / e, [0.9, *[0.1] * 4], e) for e in FEW * 0.5 ** np.arange(6)]
    gaps = [point(1 / g, [0.9, *[0.9 - g] * 4], 10.0) for g in 0.09 * 0.5 ** np.arange(6)]
    laws = (
        ("K", "number of suboptimal arms", "gap .8, epsilon = .001", arms),
        ("epsilon", "1/epsilon", "five arms, gap .8", budgets),
        ("Delta", "1/Delta", "five arms, epsilon = 10", gaps),
    )
    return [
        evidence.scaling(
            f"theorem-4.3 exponent over {name}",
            points,
            exponent=1.0,
            log_power=0.0,
            margin=0.1,  # log(K log(2/Delta) T) beside log T
            claim="theorem-4.3",
            instance=instance,
            over=over,
            horizon=LAW,
        )
        for name, over, instance, points in laws
    ]


def regret(algorithm: Any, budget: str, seed: int, workers: int) -> Iterator[Check]:
    """Lemma 4.2, Theorem 4.3 on C1 to C4 with its rates, DP-UCB beside it, and Theorem 4.4.

    With budget ``mutant``: C2 alone, and no comparison.
    """
    epsilon = original(algorithm).epsilon
    yield from family.survival_and_pulls(
        with_parameters(algorithm, n_arms=3, horizon=100_000, beta=BETA),
        "lemma-4.2",
        lambda gaps: pulls_bound(gaps, 3, epsilon, BETA),
        LARGE_GAPS,
        beta=BETA,
        budget=budget,
        seed=seed,
        source="Lemma 4.2",
    )
    for environment in settings(algorithm.n_arms, budget):
        check, mine = mean_regret(
            algorithm,
            environment,
            lambda gaps, t: regret_bound(gaps, t, epsilon),
            claim="theorem-4.3",
            budget=budget,
            seed=seed,
            workers=workers,
        )
        yield check
        if budget != "mutant":
            rival = DPUCB(algorithm.n_arms, epsilon, algorithm.horizon)
            theirs = simulate(
                rival, environment, runs=RIVAL_RUNS[budget], seed=seed, workers=workers, points=2
            )
            yield evidence.comparison(
                f"section-5 on {environment.name}",
                mine,
                theirs.regret,
                factor=5.0,
                claim="section-5",
                instance=environment.name,
                horizon=algorithm.horizon,
                epsilon=epsilon,
                rival="dp-ucb, budget split as printed",
            )
    yield minimax_regret(algorithm, budget, seed, workers)
    yield crowded(algorithm, budget, seed)
    yield from exponents(algorithm, budget, seed)
    if budget != "mutant":
        yield late(algorithm, budget, seed, workers)
        yield price(algorithm, budget, seed, workers)
    yield from rate_checks(algorithm, log_power=1.0, claim="theorem-4.3", budget=budget, seed=seed)


def schedule(algorithm: Any) -> list[family.Epoch]:
    """The first epoch of all arms, and the second one of the two that are left."""
    k, epsilon, beta = algorithm.n_arms, algorithm.epsilon, algorithm.beta
    first, second = (
        math.ceil(float(epoch_length(size, number, epsilon, beta))) for size, number in ((k, 1), (2, 2))
    )
    epochs = [family.Epoch(0, first, float(threshold(k, 1, epsilon, beta)), k)]
    if k * first + 2 * second <= algorithm.horizon:
        epochs.append(family.Epoch(k * first, second, float(threshold(2, 2, epsilon, beta)), 2))
    return epochs


def pairs(algorithm: Any) -> list[TablePair]:
    """Tables near the thresholds of the first two epochs."""
    return family.near_threshold(algorithm.n_arms, algorithm.horizon, algorithm.epsilon, schedule(algorithm))


class SplitBudget(DPSE):
    """Gives each arm epsilon/K, in the noise and in the epochs' lengths."""

    @functools.cached_property
    def _split(self) -> DPSE:
        return DPSE(self.n_arms, self.epsilon / self.n_arms, self.horizon, self.beta)

    @functools.cached_property
    def _schedule(self) -> tuple[IntArray, FloatArray]:
        return self._split._schedule

    @property
    def mechanism(self) -> Laplace:
        """Lap(K/epsilon) on sums."""
        return self._split.mechanism


class LongEpochs(DPSE):
    """Epochs that are longer by a factor log(1/beta) / 4."""

    def epoch_length(self, state: EliminationState) -> IntArray:
        """R_e log(1/beta) / 4."""
        longer = super().epoch_length(state) * math.log(1 / float(self.beta or 0.5)) / 4
        return np.asarray(np.ceil(longer), dtype=np.int64)


_MUTANTS: Sequence[Mutant] = (
    *family.privacy_mutants(family.Unforgetting, family.MeanScale),
    regret_mutant(
        "hasty",
        "arms are removed at an eighth of the threshold, within the noise of their means",
        family.Hasty,
        "lemma-4.2 survival on near ties",
    ),
    regret_mutant(
        "timid",
        "arms are removed at eight times the threshold only",
        family.Timid,
        "lemma-4.2 pulls on large gaps",
    ),
    regret_mutant(
        "inverted",
        "the best arms are removed",
        family.Inverted,
        "lemma-4.2 pulls on large gaps",
    ),
    regret_mutant(
        "epsilon/K per arm",
        "the budget is split between arms, though a reward enters the sum of one arm only",
        SplitBudget,
        "theorem-4.3 exponent over K",
    ),
    regret_mutant(
        "half threshold",
        "arms are removed at h_e + c_e, half the threshold",
        family.HalfThreshold,
        "lemma-4.2 survival on a hundred near ties",
    ),
    regret_mutant(
        "long epochs",
        "epochs are longer by log(1/beta) / 4, so that regret grows like log^2 T",
        LongEpochs,
        "theorem-4.3 rate on wide gaps",
    ),
)

CLAIMS = (
    RegretClaim(
        "lemma-4.2",
        "With probability 1 - beta the best arm is never removed and each suboptimal arm a is pulled at most "
        "log(K log(2/Delta_a)/beta) (1024/Delta_a^2 + 96/(epsilon Delta_a)) times.",
        "log(K log(2/Delta)/beta) (1024/Delta^2 + 96/(epsilon Delta))",
        Source(papers.S1, "Lemma 4.2"),
        "probability",
        pulls_bound,
        "binds where T exceeds the bound",
    ),
    RegretClaim(
        "theorem-4.3",
        "With beta = 1/T the expected regret is O(sum_a log T/Delta_a + K log T/epsilon).",
        "sum_a (3072 log T/Delta_a + 288 log T/epsilon) + 1",
        Source(
            papers.S1,
            "Theorem 4.3",
            "printed as a rate; constants derived from Lemma 4.2 with log(K log(2/Delta) T) <= 3 log T",
        ),
        "mean",
        regret_bound,
        "T at least K and 1/Delta_a",
    ),
    RegretClaim(
        "theorem-4.4",
        "The expected regret is O(sqrt(T K log T) + K log T/epsilon) whatever the gaps.",
        "2 sqrt(3072 K T log T) + 288 K log T/epsilon + 1",
        Source(papers.S1, "Theorem 4.4", "printed as a rate; constants derived from Theorem 4.3"),
        "mean",
        minimax_regret_bound,
        "T at least K",
    ),
    RegretClaim(
        "section-5",
        "In all settings of the experiments its mean regret is at most a fifth of DP-UCB's.",
        "mean regret of DP-UCB >= 5 times that of DP-SE",
        Source(
            papers.S1,
            "Section 5",
            "the baseline's parameters are not printed; here the split budget of its own paper, gamma = .1",
        ),
        "comparison",
        domain="Bernoulli arms C1 to C4, T = 5e7, epsilon in {.1, .25, .5, 1}, K in {3, 5, 10, 20}",
    ),
)

auditor = Auditor(
    algorithm=DPSE,
    paper=papers.S1,
    model="central",
    instance={"n_arms": 2, "epsilon": 1.0, "horizon": 6000, "beta": 0.5},
    small={"n_arms": 2, "epsilon": 1.0, "horizon": 720, "beta": 0.999},
    pairs=pairs,
    mutants=_MUTANTS,
    claims=CLAIMS,
    regret=regret,
    experiment=EXPERIMENT,
    worst_cost=lambda algorithm: algorithm.mechanism.cost(),  # a reward enters one release
)
