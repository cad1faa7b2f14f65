"""Auditor of private and robust elimination: rewards that move a bin or a mean as far as they can."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors._contamination import (
    CENTRAL,
    CENTRAL_PARETO,
    RADIUS,
    RAW,
    RAW_PARETO,
    Released,
    contaminated,
    tables,
)
from verifiable_dp.auditors._first_neighbours import HALF_NOISE, NO_NOISE, whole_budget
from verifiable_dp.core.algorithm import Algorithm, Ask, Memory, Query, Truncated, play
from verifiable_dp.core.environments import Discrete, Drawn, Huber, StudentT, TwoPoint
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.noise import Draw, Noise, Seeded
from verifiable_dp.core.query import Own
from verifiable_dp.core.simulation import simulate
from verifiable_dp.core.validate import BoolArray, FloatArray, Given, IntArray, Json, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.floors import floor_row
from verifiable_dp.evidence.regret.floors import floors as floors_check
from verifiable_dp.evidence.regret.mean_at_least import mean_at_least
from verifiable_dp.registry import mutants
from verifiable_dp.registry.mutants import Accumulated, Make, chained, gap_times, rebuilt, result
from verifiable_dp.registry.sheets import Sheet, fill
from verifiable_dp.registry.theorems import RUNS, TABLE_RUNS, TRIALS, CorrectOnly, Exponent, TheoremTrial
from verifiable_dp.registry.wrapped import original

SHEET = Sheet(__file__, papers.WU)
claim, mutant = SHEET.claim, SHEET.mutant

SHARE = 0.01  # of contaminated rewards in the experiments
UNION = 0.1  # failure probability of all estimates of a run, in checks of the estimates

# ---------------------------------------------------------------- neighbours


@dataclass(frozen=True)
class Block:
    """A block that ends in a release while no arm is removed: first round, rounds, batch, and what for."""

    start: int
    rounds: int
    batch: int
    counting: bool


def blocks(algorithm: DPRobustElimination) -> list[Block]:
    """The blocks of a run that removes nothing; forced batches are left out."""
    found: list[Block] = []
    start, folds = 0, (True, False) if algorithm.central else (False,)
    for batch in range(1, len(algorithm.samples)):
        if algorithm.forced[batch]:
            start += 2**batch
            continue
        rounds = int(algorithm.samples[batch]) * algorithm.n_arms
        for counting in folds:
            if start + rounds > algorithm.horizon:
                return found
            found.append(Block(start, rounds, batch, counting))
            start += rounds
    return found


def _centre(algorithm: DPRobustElimination, value: float) -> float:
    """J if all rewards of an arm are `value`, but for noise."""
    if not algorithm.central:
        return 0.0
    return float(algorithm.edges[np.searchsorted(algorithm.edges, value, side="right") - 1])


def _pair(table: FloatArray, place: int, values: tuple[float, float]) -> TablePair:
    """Reward `place` of arm 0, one value against the other."""
    left = np.array(table)
    left[place, 0] = values[0]
    most = float(max(np.abs(left).max(), abs(values[1])))
    return TablePair(left, place, 0, values[1], (-most, most))


def _flat(algorithm: DPRobustElimination, gap: float = 0.0) -> FloatArray:
    """Arm 0 pays gap / 2, the others -gap / 2."""
    table = np.full((algorithm.horizon, algorithm.n_arms), -gap / 2)
    table[:, 0] = gap / 2
    return table


def _across(algorithm: DPRobustElimination, table: FloatArray, block: Block) -> TablePair:
    """The first reward of a mean's block moves from J - M to J + M: the estimate moves by 2M/n."""
    centre = _centre(algorithm, float(table[block.start, 0]))
    most = float(algorithm.limit[block.batch]) * (1 - 1e-9)  # not cut off by a rounding error
    return _pair(table, block.start, (centre - most, centre + most))


def _between_bins(algorithm: DPRobustElimination, table: FloatArray, block: Block) -> TablePair:
    """The first reward of a histogram's block moves from its bin to the last one."""
    edges = algorithm.edges
    return _pair(table, block.start, (float(table[block.start, 0]), float(edges[-2:].mean())))


def _outlier(algorithm: DPRobustElimination, table: FloatArray, block: Block) -> TablePair:
    """A reward far beyond the truncation: nothing may move."""
    far = 100 * float(algorithm.limit[block.batch])
    return _pair(table, block.start, (-far, far))


def _even_bins(algorithm: DPRobustElimination, block: Block) -> TablePair:
    """Half of arm 0's rewards lie in one bin, half in the next: J hangs in the balance."""
    table, edges = _flat(algorithm), algorithm.edges
    middle = len(edges) // 2
    low, high = float(edges[middle - 1 : middle + 1].mean()), float(edges[middle : middle + 2].mean())
    mine = np.arange(block.start, block.start + block.rounds, algorithm.n_arms)
    table[mine, 0] = np.where(np.arange(len(mine)) % 2, high, low)
    return _pair(table, block.start, (low, high))


def pairs(algorithm: DPRobustElimination) -> list[TablePair]:
    """Rewards that cost a release the whole epsilon, in tables of tied arms and near the threshold."""
    released = blocks(algorithm)
    means = [block for block in released if not block.counting]
    counts = [block for block in released if block.counting]
    tied = _flat(algorithm)
    if not means:  # too short for an estimate; any neighbours will do
        return [_pair(tied, 0, (-1.0, 1.0))]
    # Late enough for the histogram to be sure, early enough for several batches to follow.
    sure = [b for b in means if algorithm.samples[b.batch] * algorithm.epsilon >= 256] or means[-1:]
    early, last = sure[0], means[-1]
    pairs = [_across(algorithm, tied, early), _outlier(algorithm, tied, early)]
    if counts:
        block = next((b for b in counts if b.batch == early.batch), counts[-1])
        pairs[1:1] = [_between_bins(algorithm, tied, block)]
    near = [b for b in means if algorithm.beta[b.batch] < algorithm.limit[b.batch]]
    if near:
        gap = 2 * float(algorithm.beta[near[0].batch])
        pairs.append(_across(algorithm, _flat(algorithm, gap), near[0]))
    pairs.append(_across(algorithm, tied, last))
    if counts:
        pairs.append(_even_bins(algorithm, counts[-1]))
    return pairs


# ---------------------------------------------------------------- environments


def _contaminated(inlier: Drawn, size: float, kinds: Sequence[str]) -> list[Huber]:
    return [contaminated(inlier, SHARE, kind, size) for kind in kinds]


KINDS = ("adversarial", "point", "symmetric")
# Outliers just within the truncation, M = 10 and 87, do the most harm; those far beyond it are cut off.
RAW_BAD = [
    Huber(RAW, SHARE, "adversarial", 1000.0, "Student t with far outliers"),
    *_contaminated(RAW, 9.0, KINDS),
    Huber(RAW_PARETO, SHARE, "point", 1000.0, "Pareto with far outliers"),
]
CENTRAL_BAD = [
    Huber(CENTRAL, SHARE, "adversarial", 1000.0, "Student t, far means, with far outliers"),
    *_contaminated(CENTRAL, 70.0, KINDS),
    Huber(CENTRAL_PARETO, SHARE, "point", 1000.0, "Pareto, mean 1.7, with far outliers"),
]

# Third moments about the mean within 1 (.79), and a radius of fifty.
FAR_OFF = StudentT((40.0, -45.0), 5.0, 0.55, "Student t, k = 3, D = 50")
FAR_OFF_BAD = Huber(FAR_OFF, 0.05, "adversarial", 1000.0, "Student t, k = 3, D = 50, far outliers")

# ---------------------------------------------------------------- checks


def _on(trial: TheoremTrial, moments: str, environment: Drawn, **changes: Given) -> TheoremTrial:
    """Two arms with what an environment needs; delta is set anew."""
    alpha = environment.alpha if isinstance(environment, Huber) else 0.0
    about = {"moments": moments, "contamination": alpha, "radius": RADIUS, "failure": None}
    return trial.changed(**{"n_arms": 2, **about, **changes})


def _constants(rule: DPRobustElimination) -> JsonDict:
    """What a contradiction of a printed rate means."""
    if not rule.printed:
        return {}
    return {"constants": "ours, the paper has none: a contradiction is one of them and not of the rate"}


def missed(algorithm: Algorithm, environment: Drawn, *, runs: int, seed: int) -> tuple[BoolArray, int]:
    """Whether some estimate of a run lies more than beta from its mean, (runs,); and their number at most.

    Estimates whose beta is infinite do not count.
    """
    rule = original(algorithm)
    data = Released(environment).data(seed, (1, 0))
    outcome = play(algorithm, data, Seeded(seed, (0,)), np.arange(runs), keep=("released",))
    failed, column, count = np.zeros(runs, bool), 0, 0
    means = np.array(environment.means)
    for block in blocks(rule):
        width = rule.n_arms * (rule.n_bins if block.counting else 1)
        values = outcome.released[:, column : column + width]
        column += width
        if values.shape[1] and not block.counting:
            count += rule.n_arms
            failed |= (np.abs(values - means) > rule.beta[block.batch]).any(axis=1)
    return failed, count


@dataclass(frozen=True)
class Estimates:
    """All estimates of a run lie within beta, with probability at least 1 - `UNION`.

    Of a mutant, in the first environment alone.
    """

    moments: str
    environments: Sequence[Drawn]
    horizon: int
    changes: Json = field(default_factory=dict)

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check for each environment."""
        for environment in self.environments[: 1 if trial.mutant else None]:
            most = 2 * math.ceil(math.log2(self.horizon))
            about = {"horizon": self.horizon, "failure": UNION / most, **self.changes}
            on = _on(trial, self.moments, environment, **about)
            runs = trial.runs(TRIALS)
            failed, count = missed(on.algorithm, environment, runs=runs, seed=trial.seed)
            yield trial.probability(
                f"on {environment.name}",
                failed,
                min(1.0, count * UNION / most),
                vacuous=not np.isfinite(on.rule.beta[1:]).any(),
                instance=environment.name,
                horizon=self.horizon,
                contamination=on.rule.contamination,
                estimates=count,
                **_constants(on.rule),
            )


def pulls_bound(gaps: FloatArray, rule: DPRobustElimination) -> FloatArray:
    """Pulls of suboptimal arms where all estimates hold, for gaps (m,): those up to the first 4 beta < gap.

    Then the best arm's estimate leads by more than 2 beta. Beta is that of the closed form; as printed it has
    no constants, and is taken from the listing, whose forced batches add their share.
    """
    if not rule.printed:
        about = (rule.horizon, rule.epsilon, rule.k, rule.contamination, rule.failure or 0.0)
        radius = rule.radius if rule.central else None
        return np.array([closed_forms.robust_pulls(gap, *about, radius) for gap in np.asarray(gaps).tolist()])
    batch = np.arange(1, len(rule.beta))
    told = 4 * rule.beta[None, 1:] < np.asarray(gaps)[:, None]
    told &= ~rule.forced[None, 1:]
    last = np.where(told.any(axis=1), told.argmax(axis=1) + 1, len(batch))
    own = np.where(rule.forced[1:], np.ceil(2.0**batch / rule.n_arms), 2.0**batch)
    return np.asarray(np.minimum(np.concatenate([[0.0], np.cumsum(own)])[last], rule.horizon))


def regret_bound(gaps: FloatArray, rule: DPRobustElimination) -> float:
    """Sum of gap times `pulls_bound`, and of the largest gap where an estimate fails (once in T)."""
    gaps = np.asarray(gaps, dtype=np.float64)
    bad = gaps[gaps > 0]
    return float(np.sum(bad * pulls_bound(bad, rule)) + gaps.max())


@dataclass(frozen=True)
class CleanRegret:
    """Mean clean regret against `regret_bound` of the correct algorithm; of a mutant in one environment."""

    moments: str
    environments: Sequence[Drawn]

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check for each environment."""
        for environment in self.environments[: 1 if trial.mutant else None]:
            on = _on(trial, self.moments, environment)
            yield on.mean_bound(
                environment,
                on.play(Released(environment)).regret,
                on.bound(environment.gaps),
                1 << 40,
                contamination=on.rule.contamination,
                **_constants(on.rule),
            )


TWO_RAW: JsonDict = {"n_arms": 2, "k": 2.0, "moments": "raw", "failure": None}
_APART = TwoPoint((0.4, -0.4), -1.0, 1.0, "a gap of .8")
OVER_EPSILON = Exponent(
    "epsilon",
    "1/epsilon",
    "two arms with rewards -1 and 1 and a gap of .8, k = 2, T = 2^52, epsilon = 1e-4/2^j",
    [
        (1 / e, _APART, {**TWO_RAW, "epsilon": e, "horizon": 1 << 52, "contamination": 0.0})
        for e in 1e-4 * 0.5 ** np.arange(6)
    ],
    margin=0.05,
)

# ---------------------------------------------------------------- lower bound

FLOORS = SHEET.words("floors")
ALIKE = 1 << 16  # horizon of Theorem 4.1's check


def least_contaminated(horizon: float, alpha: float, k: float) -> float:
    """T Delta, Delta = (alpha/(1 - alpha))^(1 - 1/k): the regrets on two instances that look alike, added.

    One arm pays 0, the other M = p^(-1/k) with probability p = alpha/(1 - alpha), so that E|X|^k = 1 and its
    mean is Delta. Outliers M on the first arm and 0 on the second give both the same law, whichever is which.
    """
    return float(horizon * (alpha / (1 - alpha)) ** (1 - 1 / k))


def sum_on_alike(algorithm: Algorithm, alpha: float, runs: int, seed: int) -> FloatArray:
    """Sum of the clean regrets where arm 1 is the better one and where arm 2 is, (runs,), independent."""
    size = (alpha / (1 - alpha)) ** (-1 / 2)
    both = Discrete(((0.0, size),) * 2, ((1 - alpha, alpha),) * 2, "contaminated alike")
    gap = least_contaminated(1, alpha, 2.0)
    pulls = [simulate(algorithm, both, runs=runs, seed=seed + i, points=1).pulls[:, i] for i in (0, 1)]
    return np.asarray(gap * (pulls[0] + pulls[1]), dtype=np.float64)


def _alike_at(trial: TheoremTrial, alpha: float) -> TheoremTrial:
    return trial.changed(**TWO_RAW, horizon=ALIKE, contamination=alpha)


def alike(trial: TheoremTrial) -> Iterator[Check]:
    """Theorem 4.1's term T alpha^(1 - 1/k), k = 2: the worse of two regrets is at least T Delta/4."""
    played = _alike_at(trial, SHARE).algorithm
    yield mean_at_least(
        "theorem-4.1 on two instances that look alike",
        sum_on_alike(played, SHARE, trial.runs(RUNS), trial.seed),
        bound=least_contaminated(ALIKE, SHARE, 2.0) / 2,
        claim="theorem-4.1",
        instance="sum of the regrets on both",
        horizon=ALIKE,
        contamination=SHARE,
    )


def floors(trial: TheoremTrial) -> Iterator[Check]:
    """The same on every algorithm for heavy tails, with and without robustness to outliers."""
    rows = []
    for alpha in (0.01, 0.1):
        rule, epsilon = _alike_at(trial, alpha).algorithm, trial.rule.epsilon
        heavy = {"n_arms": 2, "epsilon": epsilon, "horizon": ALIKE, "v": 1.0, "u": 1.0}
        for played in (rule, DPRobustSE(**heavy), DPRobustUCB(**heavy)):
            rows.append(
                floor_row(
                    sum_on_alike(played, alpha, trial.runs(TABLE_RUNS), trial.seed),
                    bound=least_contaminated(ALIKE, alpha, 2.0) / 2,
                    algorithm=played.name,
                    instance=f"alpha = {alpha:g}",
                    epsilon=float(epsilon),
                    horizon=ALIKE,
                )
            )
    yield floors_check(
        "theorem-4.1 on every algorithm for heavy tails",
        rows,
        claim="theorem-4.1",
        caption=fill(FLOORS, {"runs": trial.runs(TABLE_RUNS)}),
        measured="sum of two regrets",
    )


# ---------------------------------------------------------------- mutants


class Unforgetting(DPRobustElimination):
    """Means of all rewards so far, with the noise of a mean of that many."""

    def private(self, run: IntArray) -> Accumulated:
        """Nothing yet."""
        shape = (len(run), self.n_arms)
        return Accumulated(super().private(run), np.zeros(shape), np.zeros(shape, np.int64))

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Estimates from the sums since the start."""
        if self.counting(state):
            return memory, super().release(state, memory, query, answer, noise)[1]
        n = self.samples[state.epoch][:, None]
        kept = Accumulated(
            memory.inner, memory.sums + answer + n * state.centre, memory.count + query.pulls()
        )
        total = np.maximum(kept.count, 1)
        where = query.active & query.complete[:, None]
        slot = self.slots(state)[:, None] + self.n_arms * self.n_bins + np.arange(self.n_arms)
        scale = self.estimate_scale(state)[:, None] * n / total
        return kept, noise(Draw(kept.sums / total, scale, state.run, slot, where))


def _shared_between(shared: str) -> Make:
    """Noise shared between ``arms``, ``batches`` or ``steps``, the releases that follow one another."""

    def reslot(rule: DPRobustElimination, slot: IntArray) -> IntArray:
        arms, bins = rule.n_arms, rule.n_bins
        batch, place = np.divmod(slot, arms * (bins + 1))
        if shared == "batches":
            return place
        if (
            shared == "steps"
        ):  # means take the draws of the bins, or every second batch those of the one before
            return (
                np.where(place >= arms * bins, slot - arms * bins, slot) if bins else slot - batch % 2 * arms
            )
        own = np.where(place >= arms * bins, bins, place % max(bins, 1))
        return batch * (bins + 1) + own

    return mutants.shared(reslot)


def _first_step(factor: float) -> Make:
    """Noise of the first release of a batch, the histogram where there is one, multiplied by `factor`."""
    return chained(
        result("fraction_scale", lambda rule, scale, state: scale * factor),
        result("estimate_scale", lambda rule, scale, state: scale * (1.0 if rule.central else factor)),
    )


def _limit_times(factor: float) -> Make:
    """Sums are truncated at `factor` times M."""

    def ask(rule: DPRobustElimination, asked: Ask, state: Own) -> Ask:
        return Truncated(asked.limit * factor, asked.centre) if isinstance(asked, Truncated) else asked

    return result("ask", ask)


ESTIMATES, CLEAN = Estimates("raw", RAW_BAD, 1 << 14), CleanRegret("raw", RAW_BAD[:4])
MUTANTS = (
    HALF_NOISE,
    NO_NOISE,
    mutant("sensitivity M", result("estimate_scale", lambda rule, scale, state: scale / 2)),
    mutant(
        "noise divided twice",
        result("estimate_scale", lambda rule, scale, state: scale / rule.samples[state.epoch]),
    ),
    mutant("half noise in the first step", _first_step(0.5)),
    mutant("no noise in the first step", _first_step(0.0)),
    mutant("no forgetting", rebuilt(Unforgetting)),
    mutant("no truncation", _limit_times(np.inf)),
    mutant("one draw for all arms", _shared_between("arms")),
    mutant("one draw for all batches", _shared_between("batches")),
    mutant("one draw for two steps", _shared_between("steps")),
    mutant("outliers kept", _limit_times(np.inf), ESTIMATES),
    mutant("low truncation", _limit_times(1 / 20), ESTIMATES),
    mutant("inverted", mutants.INVERTED, CLEAN),
    mutant("timid", gap_times(8), CLEAN),
)

# ---------------------------------------------------------------- claims

CLAIMS = (
    claim("theorem-4.1", least_contaminated, [alike, CorrectOnly(tables), CorrectOnly(floors)]),
    claim("theorem-6.1", checks=[ESTIMATES]),
    claim("remark-6.3", checks=[Estimates("raw", [RAW, RAW_PARETO], 1 << 14)]),
    claim("theorem-6.2", regret_bound, [CLEAN, CorrectOnly(OVER_EPSILON)]),
    claim(
        "theorem-6.5",
        checks=[
            Estimates("central", [FAR_OFF, FAR_OFF_BAD], 1 << 14, {"k": 3.0, "radius": 50.0, "epsilon": 0.5})
        ],
    ),
    claim("corollary-6.6", checks=[Estimates("central", [CENTRAL, CENTRAL_PARETO], 1 << 15)]),
    claim("corollary-6.8", checks=[Estimates("central", CENTRAL_BAD, 1 << 15)]),
    claim("theorem-6.10", regret_bound, [CleanRegret("central", [CENTRAL])]),
    claim("theorem-6.12", regret_bound, [CleanRegret("central", CENTRAL_BAD[:4])]),
)

# A reward enters one release: 2 M over 2 M/epsilon, or two bins by 1 over 2/epsilon.
auditor = SHEET.auditor(DPRobustElimination, pairs, MUTANTS, CLAIMS, worst_cost=whole_budget)
