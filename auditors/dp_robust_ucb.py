"""Auditor of DP Robust UCB."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _index as family
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.environments import Discrete, Pareto, TwoPoint
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.check import Check
from verifiable_dp.registry import mutants
from verifiable_dp.registry.mutants import mixed, noise_times, shared
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TRIALS, CorrectOnly, Exponent, MeanBound, TheoremTrial
from verifiable_dp.registry.wrapped import original

SHEET = Sheet(__file__, papers.TAO)
claim, mutant = SHEET.claim, SHEET.mutant

INSTANCE = SHEET.row("auditor")["instance"]
SHORT = {"horizon": 1000, "n_arms": 2}
ACTIVE = {"horizon": 40_000_000, "n_arms": 2, "v": 1.0, "u": 1.0}  # on the widest gap that u = 1 allows
SURE = Discrete(((1.0, 1.0), (-1.0, -1.0)), ((0.5, 0.5), (0.5, 0.5)), "arms that pay 1 and -1")  # E X^2 = 1
BETA = 0.1  # failure probability of one arm's estimate in the check of Lemma 3
OVER_ARMS = Exponent(
    "K",
    "K - 1",
    "rewards -1 and 1, gaps of 2, T = 1e6, a tenth of the constant",
    [
        (
            k - 1,
            TwoPoint((1.0, *(-1.0,) * (k - 1)), -1.0, 1.0, f"{k} arms"),
            {"n_arms": k, "epsilon": 1.0, "horizon": 1_000_000, "v": 1.0, "u": 1.0, "constants": 0.1},
        )
        for k in range(5, 13)
    ],
    margin=0.15,
    runs={"quick": 8, "standard": 12, "thorough": 24},
)
ARMS = Pareto((0.6, 0.3), 3.0, "two Pareto arms of shape 3")  # E X^2 = .48


def regret_bound(gaps: FloatArray, rule: DPRobustUCB) -> float:
    """Theorem 2 with its constant as the proof needs it, 36^((1+v)/v) rather than 36."""
    bad = gaps[gaps > 0]
    pulls = closed_forms.dp_robust_ucb_pulls(bad, rule.horizon, rule.epsilon, rule.v, rule.u)
    return float(bad @ (np.ceil(pulls) + 1 + math.pi**2 / 3))


def moment_ratios(v: float, laws: int, seed: int) -> FloatArray:
    """E|X-mu|^p/E|X|^p and E|X|^p/(E|X-mu|^p + |mu|^p), p = 1 + v, (laws, 2): exact, for random finite laws.

    Laws have two to five points with Pareto sizes of either sign, and lopsided chances.
    """
    rng, p = np.random.default_rng(seed), 1 + v
    points = rng.choice([-1.0, 1.0], (laws, 5)) * rng.pareto(0.5, (laws, 5))
    chances = rng.exponential(1.0, (laws, 5)) ** 3 * (np.arange(5) < rng.integers(2, 6, laws)[:, None])
    chances /= chances.sum(axis=1, keepdims=True)
    mean = np.sum(chances * points, axis=1)
    raw = np.sum(chances * np.abs(points) ** p, axis=1)
    central = np.sum(chances * np.abs(points - mean[:, None]) ** p, axis=1)
    return np.column_stack([central / raw, raw / (central + np.abs(mean) ** p)])


def moments(v: float, budget: str, seed: int, constants: Sequence[float] = (4.0, 2.0)) -> list[Check]:
    """Lemma 10: the largest ratio of each hundred laws against its constant.

    Without the lemma the triangle inequality gives the constants 2^(2+v) and 2^(1+v).
    """
    batches = TRIALS[budget]
    ratios = moment_ratios(v, 100 * batches, seed).reshape(batches, 100, 2).max(axis=1)
    return [
        SHEET.ratio(
            "moments",
            ratios[:, part],
            bound=constant,
            largest=2.0 ** (2 + v - part),
            texts={"part": part + 1},
            v=v,
        )
        for part, constant in enumerate(constants)
    ]


def truncated_ratios(v: float, laws: int, seed: int) -> FloatArray:
    """E[X 1{|X| > B}] B^v/E|X|^(1+v), exact, for random finite laws, (laws,)."""
    rng = np.random.default_rng(seed)
    points = rng.choice([-1.0, 1.0], (laws, 4), p=(0.2, 0.8)) * rng.pareto(0.5, (laws, 4))
    chances = rng.exponential(1.0, (laws, 4)) ** 3 * (np.arange(4) < rng.integers(1, 5, laws)[:, None])
    chances /= chances.sum(axis=1, keepdims=True)
    # A little below a point of the law: there the lemma is sharpest, and at the point itself an equality.
    limit = np.take_along_axis(np.abs(points), rng.integers(0, 4, laws)[:, None], 1)[:, 0] * 0.999
    beyond = np.sum(chances * points * (np.abs(points) > limit[:, None]), axis=1)
    return np.asarray(beyond * limit**v / np.sum(chances * np.abs(points) ** (1 + v), axis=1))


def lemma_7(trial: TheoremTrial) -> Iterator[Check]:
    """The largest ratio of each hundred laws; without the lemma it is E|X| B^v/E|X|^(1+v) that is bounded."""
    batches = trial.runs(TRIALS)
    for v in sorted({0.5, trial.rule.v}):
        ratios = truncated_ratios(v, 100 * batches, trial.seed).reshape(batches, 100).max(axis=1)
        yield SHEET.ratio("truncated", ratios, v=v)


def lemma_3(trial: TheoremTrial) -> Iterator[Check]:
    """The noisy means after the last round of a short run.

    The lemma's t^-4 is too rare to be counted; BETA takes its place in the bonus as well.
    """
    short = trial.changed(**SHORT)
    runs = np.arange(trial.runs(TRIALS))
    final: Own = play(short.algorithm, ARMS.data(trial.seed), Seeded(trial.seed), runs, keep=()).final
    off = final.estimate / final.pulls - np.array(ARMS.means)
    limit = short.rule.bonus(np.float64(BETA**-0.25), final.pulls.astype(np.float64))
    yield trial.probability(
        "after the last round",
        (off > limit).any(axis=1),
        2 * BETA,
        horizon=short.rule.horizon,
        instance=ARMS.name,
    )


def lemma_10(trial: TheoremTrial) -> Iterator[Check]:
    """Its ratios at v = 1/2 and at that of the instance."""
    for v in sorted({0.5, trial.rule.v}):
        yield from moments(v, trial.budget, trial.seed)


def pairs(algorithm: DPRobustUCB) -> list[TablePair]:
    """A reward moves from -B to B, or beyond: the costliest that a run in turn reaches, and the first.

    Arms are played in turn where the bonus exceeds all else; the last two pairs are for a run that stays
    with arm 0.
    """
    k, last, tree = algorithm.n_arms, algorithm.horizon - 1, original(algorithm).mechanism
    turns, stays = tree.worst((last + k) // k), tree.worst(max(last + 2 - k, 1))
    return [
        _moved(algorithm, (turns - 1) * k, turns, 1.0),
        _moved(algorithm, 0, 1, 1.0),
        _moved(algorithm, (turns - 1) * k, turns, 20.0),
        _moved(algorithm, 0, 1, 20.0),
        _moved(algorithm, min(stays + k - 2, last) if stays > 1 else 0, stays, 1.0),
        _moved(algorithm, min(k, last), 2, 1.0),
    ]


def _moved(algorithm: DPRobustUCB, when: int, item: int, times: float) -> TablePair:
    """Arm 0 pays what the truncation keeps at its item number `item`, the others as much less."""
    tree = original(algorithm).mechanism
    limit = times * float(tree.limit(item))
    most = max(float(tree.limit(algorithm.horizon)), limit)
    table = np.full((algorithm.horizon, algorithm.n_arms), -0.999 * float(tree.limit(1)))
    table[:, 0] = 0.999 * float(tree.limit(1))
    table[when, 0] = -limit
    return TablePair(table, when, 0, limit, (-most, most))


MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    mutant("budget log T", family.PRINTED_NOISE),
    mutant("one draw for all nodes", family.SAME_NODE),
    mutant("one draw for all arms", shared(lambda rule, slot: slot & ((1 << SLOT_BITS) - 1))),
    mutant("re-drawn", mixed(family.Redrawn)),
    mutant("no truncation", mutants.Untruncated),
    mutant("heavy noise", noise_times(1e3), lemma_3),
)

CLAIMS = (
    claim("lemma-3", DPRobustUCB.bonus, [lemma_3]),
    claim(
        "theorem-2",
        regret_bound,
        [MeanBound([ARMS], SHORT, 10), CorrectOnly(MeanBound([SURE], ACTIVE, 3)), CorrectOnly(OVER_ARMS)],
    ),
    claim("lemma-7", checks=[lemma_7]),
    claim("lemma-10", checks=[lemma_10]),
)

auditor = SHEET.auditor(
    DPRobustUCB,
    pairs,
    MUTANTS,
    CLAIMS,
    tightness=DPRobustUCB(**INSTANCE).mechanism.cost(33, 64),
    worst_cost=family.worst_cost,
)
