"""Auditor of the private linear bandit: one reward from -1 to 1; Theorem 1 with its numbers, Lemma 3."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._design import ball_net, coordinates, core_limit, design, net, spread
from verifiable_dp.algorithms._linear import on_sphere
from verifiable_dp.algorithms.dp_linear import DPLinear, batches, width
from verifiable_dp.auditors import _linear as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE
from verifiable_dp.auditors._laplace import log_lemma_4, log_tail
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.comparison import comparison
from verifiable_dp.registry import mutants
from verifiable_dp.registry.mutants import given
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import RUNS, CorrectOnly, TheoremTrial
from verifiable_dp.registry.wrapped import Listed

SHEET = Sheet(__file__, papers.HANNA)
claim, mutant = SHEET.claim, SHEET.mutant

CORE_SIZES = (*range(1, 17), 20, 25, 32, 40, 50, 64, 90, 128, 256, 512, 1024)


def net_size(dimension: int, zeta: float) -> float:
    """(3/zeta)^d + d of Lemma 1."""
    return float((3 / zeta) ** dimension + dimension)


def laplace_tail(n: int, t: float, b: float = 1.0, c: float = 1.0) -> float:
    """Lemma 4, corrected, for every t >= 0: exp(-t^2 b^2/(4.5 n c^2)) up to n c/b."""
    return math.exp(log_lemma_4(n, t * b / c))


def width_failure(horizon: int, n_actions: int, beta: float, *, factor: float = 1.0) -> float:
    """Bound on the chance that some estimate of some batch of Algorithm 1 is off by more than gamma.

    A sum over batches and actions. With L = log(4 |A| T/beta) an action fails by its samples with
    probability 2 exp(-L) at most, and by the noise if |sum l_a z_a| > c (|C| + L) with |l_a| <= c = 2d/q,
    whose chance is largest, and exact, for |l_a| = c; the core set is the worst of any size. `factor`
    multiplies that part of gamma.
    """
    log = math.log(4 * n_actions * horizon / beta)
    noise = max(log_tail(n, factor * (n + log)) for n in {min(n, n_actions) for n in CORE_SIZES})
    return max(batches(horizon), 1) * n_actions * 2 * (math.exp(-log) + math.exp(noise))


def tail(trial: TheoremTrial) -> Iterator[Check]:
    """Lemma 4 over n and t: the exact chance for equal terms, which is the largest, over the bound."""
    ratios = [
        math.exp(log_tail(n, n * x) - log_lemma_4(n, n * x))
        for n in (1, 2, 3, 5, 10, 30, 100, 300, 1000)
        for x in (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 3.0, 10.0)
    ]
    yield SHEET.ratio("tails", [max(ratios)] * len(ratios))


def proved(trial: TheoremTrial) -> Iterator[Check]:
    """What `width_failure` leaves of beta, for this rule and over T, K and beta."""
    rule = trial.rule
    points = [(rule.horizon, rule.n_arms, float(rule.beta or 1 / rule.horizon))]
    points += [
        (horizon, n_actions, beta)
        for horizon in (8, 100, 10**4, 10**6, 10**9)
        for n_actions in (2, 10, 1000, 10**6)
        for beta in (1 / horizon, 0.1)
    ]
    ratios = [width_failure(*point) / point[2] for point in points]
    yield SHEET.ratio("gamma", [max(ratios)] * len(ratios))


def core_set(trial: TheoremTrial) -> Iterator[Check]:
    """Mean regret with core set against that of the ablation: K = 1000, T = 1e7, epsilon = .1."""
    actions = on_sphere(1000, 2, 0)
    where = family.on_circle(actions, 0)
    many = trial.changed(actions=actions, epsilon=0.1, horizon=10**7, beta=None)
    with_core, without = (
        many.changed(core=core).play(where, RUNS, seed=trial.seed + core).regret for core in (True, False)
    )
    yield comparison(
        f"section-6 on {where.name}",
        with_core,
        without,
        factor=1.0,
        claim="section-6",
        rival="without the core set",
        instance=where.name,
        horizon=10**7,
    )


def sets(d: int, seed: int) -> list[tuple[str, FloatArray]]:
    """Sets in the unit ball: points of it, a crowded spot with few others, and a flat one that spans."""
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((800, d))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    ball = directions * rng.random((800, 1)) ** (1 / d)
    crowded = np.vstack([0.5 * np.eye(d)[:1] + 0.01 * ball[:790], ball[790:]])
    flat = ball[:400] * np.r_[np.ones(1), np.full(d - 1, 1e-3)]
    return [("ball", ball), ("crowded", crowded), ("flat", flat)]


def nets(trial: TheoremTrial) -> Iterator[Check]:
    """Lemma 1: size over its bound, or distance from a point of the set over zeta where that is larger."""
    worst = []
    for d in (1, 2, 3, 5):
        for zeta in (0.02, 0.1, 0.25, 0.5):
            made = [(points, points[list(net(points, zeta))]) for _, points in sets(d, trial.seed)]
            if zeta >= 0.1 and d <= 3:
                made.append((sets(d, trial.seed)[0][1], ball_net(d, zeta)))
            for points, chosen in made:
                far = max(float(np.linalg.norm(chosen - x, axis=1).min()) for x in points)
                spans = np.linalg.matrix_rank(chosen) == d
                worst.append(max(len(chosen) / net_size(d, zeta), far / zeta, 0.0 if spans else 2.0))
    yield SHEET.ratio("nets", [max(worst)] * len(worst))


def designs(trial: TheoremTrial) -> Iterator[Check]:
    """Lemma 2: max |a|^2 over 2 d, or the size of the core set over its bound where that is larger."""
    worst = []
    for d in (2, 3, 5, 10):
        for number in range(4):
            actions = np.array(on_sphere(200, d, 100 * trial.seed + number))
            weights = design(actions)
            norm = float(spread(coordinates(actions), weights).max())
            worst.append(max(norm / (2 * d), float((weights > 0).sum()) / core_limit(d)))
    yield SHEET.ratio("designs", [max(worst)] * len(worst))


# ---------------------------------------------------------------- neighbours


def pairs(algorithm: Listed, epsilon: float | None = None) -> list[TablePair]:
    """A reward of the first or of the last batch goes from -1 to 1; all others are 0, or nearly tied.

    The batches are those of a run that removes nothing. In the last one the second action of the core set
    leads by a few times 1/`epsilon`, the algorithm's own if None, so that the change decides who plays on.
    """
    lead = [x / (epsilon or algorithm.epsilon) for x in (3.0, 0.0, 1.0, 6.0)]
    last = _batches(algorithm)[-1]
    return [
        _pair(algorithm, 1, 0.0),
        _pair(algorithm, last, lead[0]),
        *(_pair(algorithm, batch, x) for batch in sorted({1, last}) for x in lead[1:]),
    ]


def _batches(algorithm: Listed) -> list[int]:
    """Batches that are complete if nothing is removed; at least the first."""
    everything, rounds, complete = np.ones(algorithm.n_arms, bool), 0, []
    for batch in range(1, algorithm.last_batch + 1):
        rounds += int(algorithm.plan(batch, everything).counts.sum())
        if rounds <= algorithm.horizon:
            complete.append(batch)
    return complete or [1]


def _pair(algorithm: Listed, batch: int, lead: float) -> TablePair:
    everything = np.ones(algorithm.n_arms, bool)
    counts = [algorithm.plan(number, everything).counts for number in range(1, batch + 1)]
    start = int(sum(int(c.sum()) for c in counts[:-1]))
    core = np.flatnonzero(counts[-1])
    table = np.zeros((algorithm.horizon, algorithm.n_arms))
    first, place = int(core[0]), min(start, algorithm.horizon - 1)
    if len(core) > 1:
        other = int(core[1])
        table[start:, other] = np.clip(lead / counts[-1][other], -1, 1)
    table[place, first] = -1.0
    return TablePair(table, place, first, 1.0, algorithm.bounds)


# ---------------------------------------------------------------- mutants

SUM_MUTANTS = (
    mutant("one draw for all actions", mutants.SHARED_BY_ARMS),
    mutant("one draw for all batches", mutants.SHARED_BY_EPOCHS),
    mutant("no forgetting", mutants.Unforgetting),
)
GOOD_EVENT = family.GoodEvent("Lemma 3")
MUTANTS = (
    HALF_NOISE,
    mutant("sensitivity 1", given(variant="printed")),
    NO_NOISE,
    *SUM_MUTANTS,
    mutant("sums with the noise of means", mutants.MEAN_NOISE),
    *family.removal_mutants(GOOD_EVENT),
)

CLAIMS = (
    claim("theorem-1", family.regret_bound, family.theorem(100.0)),
    claim("lemma-1", net_size, [nets]),
    claim("lemma-2", core_limit, [designs]),
    claim("lemma-3", width, [GOOD_EVENT, CorrectOnly(proved)]),
    claim("lemma-4", laplace_tail, [tail]),
    claim("section-6", checks=[core_set]),
)

auditor = SHEET.auditor(
    DPLinear,
    pairs,
    MUTANTS,
    CLAIMS,
    **family.OF_THREE,
    worst_cost=family.worst_cost,
)
