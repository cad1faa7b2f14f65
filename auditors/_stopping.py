"""What the auditors of stopping rules share: neighbours along the threshold, correctness, mutants."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from verifiable_dp.algorithms._stopping import ESTIMATE_SLOT, THRESHOLD_SLOT, Stopping
from verifiable_dp.auditors._first_neighbours import first_item
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.environments import two_point
from verifiable_dp.core.neighbours import StreamPair
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.simulation import Simulation
from verifiable_dp.core.validate import FloatArray, IntArray, JsonDict
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.regret.mean_at_least import mean_at_least
from verifiable_dp.registry.mutants import Make, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import TRIALS, TheoremTrial
from verifiable_dp.registry.wrapped import Wrapped

SHEET = Sheet(__file__)
mutant = SHEET.mutant

# ---------------------------------------------------------------- neighbours


def worst_cost(algorithm: Stopping) -> float:
    """A sample enters every comparison up to the positive one, and the estimate: both parts are paid."""
    return float(algorithm.above_threshold.cost() + algorithm.laplace.cost())


def along_threshold(algorithm: Stopping) -> list[StreamPair]:
    """The first sample, -R against +R, in streams that keep the rule close to halting.

    - *follow*: the sum climbs to the threshold and stays there at every later check, the left input R below
      and the right one R above, or both a noise scale off: each answer "no" tells them apart;
    - *turn*: it touches the threshold from one side and later from the other, where the same sample moves
      |sum| the other way;
    - *climb*: all later samples are R;
    - *none*: all later samples are 0.
    """
    rule = algorithm
    scale = max(rule.scales()[1], rule.bounds[1])
    pairs = [_follow(rule, offset) for offset in (-algorithm.bounds[1], scale, -scale)]
    turned = _turn(rule)
    constant = [np.full(rule.horizon, rule.bounds[1]), np.zeros(rule.horizon)]
    streams = [*pairs, *([] if turned is None else [turned]), *constant]
    return [first_item(stream, rule.bounds) for stream in streams]


def _checks(rule: Stopping) -> tuple[IntArray, FloatArray]:
    """Times of the checks up to the horizon, and their thresholds for |sum|."""
    number = np.arange(1, 2 + (int(np.log2(rule.horizon)) if rule.exponential else rule.horizon))
    at = rule.check_time(number)
    at, number = at[at <= rule.horizon], number[at <= rule.horizon]
    return at, np.asarray(rule.threshold(at.astype(np.float64), number.astype(np.float64)))


def _walk(rule: Stopping, at: Sequence[int], goals: Sequence[float]) -> FloatArray:
    """Samples whose sum moves towards each goal as fast as the radius allows, from -R after the first."""
    stream = np.zeros(rule.horizon)
    stream[0] = total = -rule.bounds[1]
    before = 1
    for time, goal in zip(at, goals, strict=True):
        if time > before:
            step = float(np.clip((goal - total) / (time - before), -rule.bounds[1], rule.bounds[1]))
            stream[before:time] = step
            total += step * (time - before)
            before = time
    return stream


def _follow(rule: Stopping, offset: float) -> FloatArray:
    at, limits = _checks(rule)
    return _walk(rule, at.tolist(), (limits + offset).tolist())


def _turn(rule: Stopping) -> FloatArray | None:
    """None if the horizon is too short to cross from one side to the other."""
    at, limits = _checks(rule)
    radius = rule.bounds[1]
    reachable = np.flatnonzero(radius * (at - 2) >= limits)
    if not len(reachable):
        return None
    first = int(reachable[0])
    far = np.flatnonzero(radius * (at - at[first]) >= limits + limits[first] + radius)
    if not len(far):
        return None
    last = int(far[0])
    # On the left input the second touch is higher by R than the first; on the right one lower by 3R.
    return _walk(rule, [int(at[first]), int(at[last])], [limits[first], -(limits[last] + radius)])


# ---------------------------------------------------------------- checks


def least_private(mean: float, radius: float, alpha: float, beta: float, epsilon: float) -> float:
    """n = R log(1/beta)/(12 epsilon alpha |mu|) of the proof of Theorem 3.4."""
    return radius * math.log(1 / beta) / (12 * epsilon * alpha * abs(mean))


def least_mean(mean: float, radius: float, alpha: float, beta: float) -> float:
    """Mean samples of every (alpha, beta)-correct rule on -R and R: kl(1 - beta, beta)/KL(mu, mu').

    mu' = mu (1 - alpha)/(1 + alpha), so that no estimate is right for both (Kaufmann, Cappé & Garivier, On
    the Complexity of Best-Arm Identification in Multi-Armed Bandit Models, JMLR 2016, Lemma 1).
    """
    other = mean * (1 - alpha) / (1 + alpha)

    def divergence(p: float, q: float) -> float:
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    return divergence(1 - beta, beta) / divergence(0.5 + mean / (2 * radius), 0.5 + other / (2 * radius))


def samples(done: Simulation, rule: Stopping) -> FloatArray:
    """Samples by run (n,); the horizon at least where it has not halted."""
    return np.asarray(np.nan_to_num(done.output[:, 0], nan=float(rule.horizon)))


@dataclass(frozen=True)
class AtMean:
    """A check of runs on samples -R or +R with a mean in units of R: `judge(trial, mean, done)`."""

    judge: Callable[[TheoremTrial, float, Simulation], Check]
    share: float

    def __call__(self, trial: TheoremTrial) -> Iterator[Check]:
        """One check."""
        mean = self.share * float(trial.rule.radius)
        yield self.judge(trial, mean, trial.play(two_point(mean, float(trial.rule.radius)), TRIALS))


def _about(trial: TheoremTrial, mean: float) -> JsonDict:
    return {"instance": f"two-point samples with mean {mean:g}", "horizon": trial.rule.horizon}


def takes_at_least(trial: TheoremTrial, mean: float, done: Simulation) -> Check:
    """Mean samples against `least_mean`; a run that has not halted counts as the horizon.

    Where that would fall short it counts for so many that the mean cannot, since nothing is known of it.
    """
    rule = trial.rule
    bound = least_mean(mean, rule.radius, rule.alpha, rule.beta)
    halted, values = ~np.isnan(done.output[:, 0]), samples(done, rule)
    if values.mean() < bound:
        values = np.where(halted, values, bound * len(halted))
    return mean_at_least(
        f"{trial.claim.name} at mean {mean:g}",
        values,
        bound=bound,
        claim=trial.claim.name,
        halted=int(halted.sum()),
        **_about(trial, mean),
    )


def correct(trial: TheoremTrial, mean: float, done: Simulation) -> Check:
    """(alpha, beta)-correctness: a run fails if it halts at an estimate off by more than alpha |mu|.

    Vacuous if no run halted.
    """
    rule = trial.rule
    halted = ~np.isnan(done.output[:, 0])
    off = np.abs(np.nan_to_num(done.output[:, 1]) - mean) > rule.alpha * abs(mean)
    return trial.probability(
        f"at mean {mean:g}",
        halted & off,
        rule.beta,
        vacuous=not halted.any(),
        alpha_of_claim=rule.alpha,
        halted=int(halted.sum()),
        **_about(trial, mean),
    )


def halts_by(trial: TheoremTrial, mean: float, done: Simulation, limit: float, about: str = "") -> Check:
    """A run fails if it has not halted by `limit`; vacuous if the horizon is shorter."""
    rule = trial.rule
    time = np.nan_to_num(done.output[:, 0], nan=np.inf)
    return trial.probability(
        f"{about}at mean {mean:g}",
        (time > limit) & (limit <= rule.horizon),
        rule.beta,
        vacuous=limit > rule.horizon,
        least_horizon=int(np.ceil(limit)),
        limit=float(limit),
        **_about(trial, mean),
    )


def halts_after(trial: TheoremTrial, mean: float, done: Simulation) -> Check:
    """Theorem 3.4 as proved: n = R log(1/beta)/(12 epsilon alpha |mu|) samples suffice for few runs only.

    An epsilon-DP rule that is right with probability 1 - beta here and at the mean mu (1 - alpha)/(1 + alpha)
    halts by n with probability sqrt(beta) + beta at most. Vacuous where n < 1, or beta >= 1/4.
    """
    rule = trial.rule
    least = least_private(mean, rule.radius, rule.alpha, rule.beta, rule.epsilon)
    time = np.nan_to_num(done.output[:, 0], nan=np.inf)
    return trial.probability(
        f"at mean {mean:g}",
        time <= least,
        min(1.0, float(np.sqrt(rule.beta) + rule.beta)),
        vacuous=bool(least < 1 or rule.beta >= 0.25),
        least_samples=float(least),
        **_about(trial, mean),
    )


POSITIVE, NEGATIVE = CORRECT = (AtMean(correct, 0.5), AtMean(correct, -0.5))

# ---------------------------------------------------------------- mutants


@dataclass(frozen=True)
class ScaledByUse(Wrapped):
    """A private stopping rule with the noise of threshold, queries and estimate scaled apart."""

    on_threshold: float = 1.0
    on_queries: float = 1.0
    on_estimate: float = 1.0

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """As the algorithm underneath, with the changed noise."""

        def source(draw: Draw) -> FloatArray:
            hidden = np.where(draw.slot == THRESHOLD_SLOT, self.on_threshold, self.on_queries)
            factor = np.where(draw.slot == ESTIMATE_SLOT, self.on_estimate, hidden)
            return noise(replace(draw, scale=draw.scale * factor))

        return super().release(state, memory, query, answer, source)


PRIVACY_MUTANTS = (
    mutant("raw estimate", partial(ScaledByUse, on_estimate=0.0)),
    mutant("estimate not split", partial(ScaledByUse, on_estimate=0.25)),
    mutant("raw halting", partial(ScaledByUse, on_threshold=0.0, on_queries=0.0)),
)

NO_THRESHOLD_NOISE = mutant("no threshold noise", partial(ScaledByUse, on_threshold=0.0))

NO_QUERY_NOISE = mutant("no query noise", partial(ScaledByUse, on_queries=0.0))


def threshold_over(factor: float) -> Make:
    """Halts at a share of the threshold."""
    return result("threshold", lambda rule, limit, t, check: limit / factor, compiled=True)
