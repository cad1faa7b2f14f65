"""Rung 4: sequential tests. Bets that grow if the claim is broken, and may be stopped at any time.

The world of every run is tossed by a fair coin; an event hits with probability p in the world where it is
more frequent (world 1 below) and q in the other. Against a claim p <= e^eps q + delta, one run pays

    1 + c (world 1) or 1 - c (world 0), and lambda ((hit - delta) in world 1 - e^eps hit in world 0) on top

for any lambda >= 0 and any c that leave no payoff negative. Its expectation is
1 + lambda / 2 (p - delta - e^eps q), at most 1 under the claim, so the product over runs, the *e-value*, is a
nonnegative supermartingale: by Ville's inequality it ever reaches 1 / alpha with probability at most alpha,
whenever one stops. The product depends on the counts of hits and of runs only.

Which lambda and c: for an alternative (p, q) those of the likelihood ratio against its projection on the
claim (the pair (e^eps q0 + delta, q0) of least Kullback-Leibler divergence): no other bet grows as fast.
The alternatives are spread around what selection runs showed of the event, and the e-values of all of them
are averaged; those that keep the claim do not bet.

References
----------
Grünwald, de Heide & Koolen (2024), Safe testing, JRSS B. Waudby-Smith & Ramdas (2024), Estimating means of
bounded random variables by betting, JRSS B. Turner, Ly & Grünwald (2024), Generic E-variables for exact
sequential k-sample tests, Statistical Planning and Inference.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

import numpy as np
from msgspec import UNSET, Meta, UnsetType
from scipy.special import logsumexp

from verifiable_dp.core import validate
from verifiable_dp.core.validate import FloatArray, Given, InputError, IntArray, Json, JsonDict, Numbers
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.events import Event
from verifiable_dp.evidence.blackbox.statistics import DETECTABLE_STEP, least_factor
from verifiable_dp.evidence.blackbox.test import SEQUENTIAL, Plan, Sampler, Selected, Terms, Tested
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import (
    AtLeastOne,
    Count,
    Direction,
    Loss,
    Probability,
    Recorded,
    Text,
    Verdict,
    said,
)
from verifiable_dp.evidence.rounding import ROUNDED, of_p_value, searched
from verifiable_dp.evidence.words import bounded

Counts = tuple[int, int, int, int]  # hits and runs in the more frequent world, then in the other one
Payoffs = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
Select = Callable[[Plan], tuple[list[Selected], list[int]]]

CASH = 0.25  # part of the wealth that each round keeps aside: no round can lose more than the rest
_STEPS = np.arange(-4.0, 5.0)  # of the alternatives, in standard errors of the selection runs
_WIDTH = 1.5  # standard deviation of their weights
_LOG_WEIGHTS = np.add.outer(*[-0.5 * (_STEPS / _WIDTH) ** 2] * 2).ravel()
_LOG_WEIGHTS -= logsumexp(_LOG_WEIGHTS)
_ALMOST = 1 - 1e-9  # of an event that always hits
_KEPT = 1e-9  # least payoff, as a part of the stake
_RATIO = 8  # of the sizes of consecutive rounds
_LEAST = 500  # runs a side of the first round, at least
_LOOKS = 6  # looks at a round, by powers of the square root of 2
_CHUNK = 32  # claims that the confidence sequence tries at once
_DETECTED = 1.6448536269514722  # normal quantile of .95
_FIRST_STEP, _STEP, _LARGEST = 0.002, 0.002, 30.0  # of its claims: a step, then relative steps


# ---------------------------------------------------------------- bets


class SequentialCandidate(Recorded, frozen=True):
    """Counts of one event that is bet on."""

    pair: str
    pair_number: Count
    event: Text
    direction: Direction
    weight: Annotated[
        float,
        Meta(
            gt=0,
            le=1,
            description=(
                "Part of the wealth that is bet on it; what the weights of a round leave is kept aside."
            ),
        ),
    ]
    shares: Annotated[
        tuple[Probability, Probability],
        said("Frequencies on the selection runs, more frequent world first: bets are placed around them."),
    ]
    held: Annotated[Count, said("Selection runs a side behind them.")]
    counts: Annotated[
        tuple[tuple[Count, Count, Count, Count], ...],
        Meta(
            min_length=1,
            description=(
                "Cumulative [k1, n1, k0, n0] at the looks of the round: hits and runs, more frequent world "
                "first."
            ),
        ),
    ]


class SequentialRound(Recorded, frozen=True):
    """Events of one round."""

    candidates: Annotated[tuple[SequentialCandidate, ...], Meta(min_length=1)]


class SequentialStatistics(Tested, frozen=True, kw_only=True):
    """Counts of all rounds."""

    pair: Annotated[
        str,
        said("Of the event whose e-value came out largest in the last round, as what follows."),
    ]
    event: Text
    observe: Literal["actions", "releases", "reports"]
    rounds: Annotated[
        tuple[SequentialRound, ...],
        Meta(
            min_length=1,
            description=(
                "Each bets what the one before has left, on events chosen on selection runs of its own."
            ),
        ),
    ]
    runs: Annotated[Count, said("Test runs of both worlds together, over all rounds and pairs.")]


class SequentialResult(Recorded, frozen=True):
    """What follows."""

    verdict: Verdict
    log_e_value: Annotated[float, said("At the end; natural logarithm.")]
    largest_log_e_value: Annotated[float, said("Of all looks.")]
    p_value: Annotated[Probability, said("Valid at any stopping time: tests over the largest e-value.")]
    epsilon_lower: Annotated[Loss, said("Last limit of the lower confidence sequence.")]
    looks: AtLeastOne
    detectable: Annotated[
        Loss | UnsetType,
        said("Least true epsilon that the last round would have refuted with probability .95."),
    ] = UNSET


SEQUENTIAL_TEST = Kind(
    "sequential",
    "privacy",
    "e-process of bets on events, the events chosen on other runs",
    "Waudby-Smith & Ramdas, Estimating means of bounded random variables by betting, JRSS B 2024",
    rank=80,
    runs=lambda statistics: int(statistics["runs"]),
    decisive=True,
    counts=True,
    statistics=SequentialStatistics,
    result=SequentialResult,
)


@dataclass(frozen=True)
class Bet:
    """Stakes against p <= e^eps q + delta.

    Attributes
    ----------
    coin, hit : (...) float
        c and lambda of the module's docstring.
    epsilon, delta
        Of the claim; `epsilon` may be an array that broadcasts against the stakes.
    """

    coin: FloatArray
    hit: FloatArray
    epsilon: Numbers
    delta: float

    def log_payoffs(self) -> Payoffs:
        """Logs of what a run pays: world 1 with and without a hit, world 0 with and without."""
        c, stake = self.coin, self.hit
        return (
            np.log1p(c + stake * (1 - self.delta)),
            np.log1p(c - stake * self.delta),
            np.log1p(-c - stake * np.exp(self.epsilon)),
            np.log1p(-c),
        )


def log_product(payoffs: Payoffs, counts: Numbers) -> FloatArray:
    """Log of what the counted runs pay together, (...), from `Bet.log_payoffs`; counts as `Counts`."""
    k1, n1, k0, n0 = counts
    both, missed, other, idle = payoffs
    return np.asarray(k1 * both + (n1 - k1) * missed + k0 * other + (n0 - k0) * idle)


def projection(p: Numbers, q: Numbers, epsilon: Numbers, delta: float) -> FloatArray:
    """q0 of the pair (e^eps q0 + delta, q0) that is nearest to (p, q) in Kullback-Leibler divergence.

    Parameters
    ----------
    p, q
        Probabilities in (0, 1) with p > e^eps q + delta, any shapes that broadcast.
    epsilon, delta
        The claim.
    """
    p, q, growth = np.broadcast_arrays(p, q, np.exp(epsilon))
    if delta == 0:  # the derivative is quadratic; its smaller root
        middle = 1 + p + growth * (1 + q)
        square = np.maximum(middle**2 - 8 * growth * (p + q), 0.0)  # where p and q are near 1 it rounds below
        return np.asarray(2 * (p + q) / (middle + np.sqrt(square)))
    # The derivative is monotone between the point below and the point beside (p, q).
    low, high = np.log(q), np.log(np.maximum((p - delta) / growth, q))
    for _ in range(45):
        q0 = np.exp((low + high) / 2)
        other = growth * q0 + delta
        rising = growth * (p - other) / (other * (1 - other)) + (q - q0) / (q0 * (1 - q0)) > 0
        low, high = np.where(rising, (low + high) / 2, low), np.where(rising, high, (low + high) / 2)
    return np.asarray(np.exp((low + high) / 2))


def bet_for(p: FloatArray, q: FloatArray, epsilon: Numbers, delta: float) -> Bet:
    """The bet that grows fastest if the probabilities are p and q; none where they keep the claim.

    Parameters
    ----------
    p, q : (...) float
        Alternatives, in (0, 1).
    epsilon, delta
        The claim; `epsilon` may be an array that broadcasts.
    """
    p, q, epsilon = np.broadcast_arrays(p, q, np.asarray(epsilon, dtype=np.float64))
    growth = np.exp(epsilon)
    broken = p > growth * q + delta
    safe_p = np.where(broken, p, 0.5 + delta / 2)
    safe_q = np.where(broken, q, 0.25 * (safe_p - delta) / growth)
    q0 = projection(safe_p, safe_q, epsilon, delta)
    fall = np.maximum(q0 - safe_q, 0.0)
    # Whatever the rounding of q0, no payoff may be negative, and none may end the game.
    coin = np.where(broken, np.maximum(-fall / (1 - q0), _KEPT - 1), 0.0)
    stake = np.where(broken, fall / (q0 * (1 - q0)) / growth, 0.0)
    most = (1 - _KEPT) * (1 - coin) / growth
    if delta > 0:
        most = np.minimum(most, (1 - _KEPT) * (1 + coin) / delta)
    return Bet(coin, np.minimum(stake, most), epsilon, delta)


def growth_rate(p: float, q: float, epsilon: float, delta: float = 0.0) -> float:
    """Expected log payoff of a run under the best bet: no e-process grows faster.

    log(1 / alpha) over this is the number of runs, of both worlds together, that a refutation of the claim
    takes at least, up to what is not proportional to it.
    """
    if not p > math.exp(epsilon) * q + delta:
        return 0.0
    both, missed, other, idle = (float(x) for x in bet_for(*_pair(p, q), epsilon, delta).log_payoffs())
    return 0.5 * (p * both + (1 - p) * missed + q * other + (1 - q) * idle)


def _pair(p: float, q: float) -> tuple[FloatArray, FloatArray]:
    least = 1e-15
    return np.clip(p, least, 1 - least), np.clip(q, least, 1 - least)


# ---------------------------------------------------------------- candidates and rounds


@dataclass(frozen=True)
class Candidate:
    """An event that is bet on in a round, and how often it has hit.

    Attributes
    ----------
    weight
        Part of the round's stake that is bet on it.
    shares, held
        Frequencies in the more and in the less frequent world, of `held` selection runs a side: the
        alternatives spread around them.
    counts
        Cumulative counts at the looks of the round.
    words
        Pair, event and direction, for the record.
    """

    weight: float
    shares: tuple[float, float]
    held: int
    counts: tuple[Counts, ...] = ()
    words: Json = field(default_factory=dict)

    def log_e(self, epsilon: Numbers, delta: float) -> FloatArray:
        """Log e-values at all looks against claims `epsilon` (m,), (looks, m)."""
        p, q, log_weight = alternatives(self.shares, self.held)
        bet = bet_for(p, q, np.asarray(epsilon, dtype=np.float64)[:, None], delta)
        payoffs = bet.log_payoffs()
        return np.array([logsumexp(log_weight + log_product(payoffs, row), axis=1) for row in self.counts])

    def looked(self, more: Counts) -> Candidate:
        """With another look, `more` being the counts since the last one."""
        last = self.counts[-1] if self.counts else (0, 0, 0, 0)
        now = (last[0] + more[0], last[1] + more[1], last[2] + more[2], last[3] + more[3])
        return replace(self, counts=(*self.counts, now))

    def as_dict(self) -> JsonDict:
        """JSON values."""
        return {
            **self.words,
            "weight": self.weight,
            "shares": list(self.shares),
            "held": self.held,
            "counts": [list(row) for row in self.counts],
        }

    @classmethod
    def of(cls, entry: Json) -> Candidate:
        """From its JSON values.

        Raises
        ------
        InputError
            If a count exceeds its runs, or the numbers leave their range.
        """
        rows = []
        for row in entry["counts"]:
            k1, n1, k0, n0 = (int(x) for x in row)
            if not (0 <= k1 <= n1 and 0 <= k0 <= n0):
                raise InputError("record: counts must be hits and runs of either world, hits at most runs")
            rows.append((k1, n1, k0, n0))
        p, q = (float(x) for x in entry["shares"])
        return cls(float(entry["weight"]), (p, q), int(entry["held"]), tuple(rows))


def alternatives(shares: tuple[float, float], held: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Alternatives p, q (m,) on a grid in logits around the shares, and the logs of their weights.

    Parameters
    ----------
    shares, held
        As in `Candidate`.
    """
    p, q = (_spread(np.array(share), held) for share in shares)
    return np.repeat(p, len(_STEPS)), np.tile(q, len(_STEPS)), _LOG_WEIGHTS


def _spread(share: FloatArray, held: int) -> FloatArray:
    """Probabilities (..., 9) in steps of a standard error of the logit around shares (...)."""
    hits = np.clip(share, 0.0, 1.0) * held + 0.5
    rest = held + 1 - hits
    logit = np.log(hits / rest)[..., None] + np.sqrt(1 / hits + 1 / rest)[..., None] * _STEPS
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -40, 34))))


def round_wealth(
    candidates: Sequence[Candidate], epsilon: FloatArray, delta: float, before: FloatArray
) -> FloatArray:
    """Log wealth at the looks of a round, (looks, m), against claims (m,), from that `before` it, (m,).

    The e-values of the candidates and the cash are averaged by weights that were fixed before the round.
    """
    cash = 1 - math.fsum(c.weight for c in candidates)
    parts = [math.log(c.weight) + c.log_e(epsilon, delta) for c in candidates]
    parts.append(np.full(parts[0].shape, math.log(cash) if cash > 0 else -math.inf))
    return np.asarray(before + logsumexp(parts, axis=0))


def log_wealth(rounds: Sequence[Sequence[Candidate]], epsilon: Numbers, delta: float) -> FloatArray:
    """Log e-values at all looks of all rounds, in order, against claims `epsilon` (m,).

    Each round bets what the last one has left.

    Returns
    -------
    (looks, m) float
    """
    epsilon = np.asarray(epsilon, dtype=np.float64)
    parts, before = [], np.zeros(len(epsilon))
    for candidates in rounds:
        parts.append(round_wealth(candidates, epsilon, delta, before))
        before = parts[-1][-1]
    return np.concatenate(parts)


@functools.cache
def _claims() -> FloatArray:
    """The claims that the confidence sequence tries, in ascending order, from 0 to 30."""
    linear = np.arange(0, 1, _FIRST_STEP)
    return np.append(linear, np.exp(np.arange(0, math.log(_LARGEST), _STEP)))


def lower_limits(rounds: Sequence[Sequence[Candidate]], delta: float, level: float) -> FloatArray:
    """Lower confidence sequence for epsilon: with probability 1 - `level` no limit ever exceeds it.

    A limit moves up a fixed ladder of claims while the e-value against the next one is at least 1 / level,
    and never down. To get past the true epsilon it would have to refute the first claim of the ladder that
    is not below it.

    Returns
    -------
    (looks,) float
        After each look; 0 if not even epsilon = 0 is refuted.
    """
    ladder, steps, limits = _claims(), 0, []
    looks = sum(len(candidates[0].counts) for candidates in rounds)
    known: dict[int, FloatArray] = {}  # log wealth at all looks, by chunk of the ladder
    for look in range(looks):
        while steps < len(ladder):
            chunk, place = divmod(steps, _CHUNK)
            if chunk not in known:
                known[chunk] = log_wealth(rounds, ladder[chunk * _CHUNK : (chunk + 1) * _CHUNK], delta)
            if not known[chunk][look, place] >= -math.log(level):  # nor does what is not a number climb
                break
            steps += 1
        limits.append(ladder[steps - 1] if steps else 0.0)
    return np.array(limits)


# ---------------------------------------------------------------- the judge


def _scales(statistics: Json, result: Json) -> Json:
    """Scales: the log e-value adds up a term a run, and the p-value is its exponential."""
    runs = sum(
        max(sum(candidate["counts"][-1]) for candidate in row["candidates"]) for row in statistics["rounds"]
    )
    size = 1 + ROUNDED * runs
    logs = dict.fromkeys(("log_e_value", "largest_log_e_value"), size)
    if "detectable" in result:
        logs["detectable"] = searched(DETECTABLE_STEP * float(statistics["epsilon"]))
    return {"result": {**logs, "p_value": size * of_p_value(float(result["p_value"]))}}


@SEQUENTIAL_TEST.judged_by(_scales)
def _judge(statistics: Json) -> JsonDict:
    """Refuted if the e-value ever reached the number of tests over alpha."""
    epsilon, delta = float(statistics["epsilon"]), float(statistics["delta"])
    tests = int(statistics["tests"])
    rounds = [[Candidate.of(entry) for entry in row["candidates"]] for row in statistics["rounds"]]
    for candidates in rounds:
        if len({len(c.counts) for c in candidates}) != 1 or math.fsum(c.weight for c in candidates) > 1:
            raise InputError("record: candidates must have the same looks and weights that sum to at most 1")
    path = log_wealth(rounds, [epsilon], delta)[:, 0]
    highest = float(path.max())
    limits = lower_limits(rounds, delta, (1 - float(statistics["confidence"])) / tests)
    log_p = min(0.0, math.log(tests) - highest)
    seen = {}
    if log_p > math.log(float(statistics["alpha"])):
        seen["detectable"] = plain(_detectable(rounds, epsilon, delta, float(statistics["alpha"]) / tests))
    return {
        "verdict": "refuted" if log_p <= math.log(float(statistics["alpha"])) else "not_refuted",
        "log_e_value": float(path[-1]),
        "largest_log_e_value": highest,
        "p_value": math.exp(log_p),
        "epsilon_lower": plain(float(limits[-1])),
        **seen,
        "looks": len(path),
    }


def _detectable(rounds: Sequence[Sequence[Candidate]], epsilon: float, delta: float, alpha: float) -> float:
    """The least true epsilon that the last round refutes with probability .95, at the event it bets most on.

    By the normal law of the log of the wealth, as `rejection_power` simulates it: the bet that grows fastest
    is one of those that are averaged, and the rounds before can have lost all but the cash of each.
    """
    best = max(rounds[-1], key=lambda candidate: candidate.weight)
    k1, n1, _, n0 = (float(number) for number in best.counts[-1])
    p, runs = k1 / max(n1, 1), n1 + n0
    kept = math.log(best.weight) + float(_LOG_WEIGHTS.max()) + (len(rounds) - 1) * math.log(CASH)

    def caught(factor: float) -> bool:
        q = max((p - delta) * math.exp(-factor * epsilon), 1 / (2 * runs + 2))
        if not math.exp(epsilon) * q + delta < p:
            return False
        bet = bet_for(*_pair(min(p, _ALMOST), q), epsilon, delta)
        payoffs = [np.asarray(x).item() for x in bet.log_payoffs()]
        shares = (p / 2, (1 - p) / 2, q / 2, (1 - q) / 2)
        mean = sum(share * x for share, x in zip(shares, payoffs, strict=True))
        square = sum(share * x * x for share, x in zip(shares, payoffs, strict=True))
        wealth = kept + runs * mean - _DETECTED * math.sqrt(runs * max(square - mean**2, 0.0))
        return wealth >= -math.log(alpha)

    least = least_factor(caught, DETECTABLE_STEP) if p > delta else None
    return math.inf if least is None else least * epsilon


@SEQUENTIAL_TEST.worded_by
def _sequential_in_words(numbers: Json, result: Json) -> str:
    return f"{numbers['runs']} runs, {result['looks']} looks: {bounded(numbers, result)}"


# ---------------------------------------------------------------- a run


def rounds_of(plan: Plan) -> list[Plan]:
    """The rounds of a sequential audit: each has 8 times the runs of the one before, the last all of them.

    Early rounds look for gross violations, and at more pairs; what they learn later ones learn anew on more
    selection runs.
    """
    sizes = [plan.test]
    while sizes[0] >= _RATIO * _LEAST:
        sizes.insert(0, sizes[0] // _RATIO)
    rounds = []
    for number, size in enumerate(sizes):
        last = number == len(sizes) - 1
        rounds.append(
            Plan(
                probe=plan.probe if last else max(24, min(plan.probe, size // 4)),
                select=plan.select if last else min(plan.select, max(200, size)),
                test=size,
                keep=plan.keep if last else max(plan.keep, 2),
                finalists=plan.finalists,
            )
        )
    return rounds


def looks_of(runs: int) -> list[int]:
    """Cumulative runs a side at the looks of a round, the last of which is `runs`."""
    sizes = {max(1, round(runs * 2 ** (-j / 2))) for j in range(_LOOKS)}
    return sorted(sizes)


@dataclass
class _Bench:
    """What a sequential audit runs on, and the runs used so far, by pair and world: none is used twice."""

    sampler: Sampler
    seed: int
    workers: int
    used: dict[int, tuple[int, int]] = field(default_factory=dict)

    def counts(self, item: Selected, runs: int) -> Counts:
        """Counts of an event in 2 `runs` fresh runs, whose worlds are tossed by fair coins."""
        starts = self.used.get(item.number, (0, 0))
        # 2 is not a world: the coins share no stream with the noise.
        sizes = blackbox.coin_sizes(runs, 0.0, self.seed, (SEQUENTIAL, item.number, 2, sum(starts)))
        hits = blackbox.count(self.sampler, item, sizes, self.workers, SEQUENTIAL, starts)
        self.used[item.number] = (starts[0] + sizes[0], starts[1] + sizes[1])
        one, zero = (1, 0) if item.event.flipped else (0, 1)
        return hits[one], sizes[one], hits[zero], sizes[zero]


def _weights(chosen: Sequence[Selected]) -> list[float]:
    """Halves by rank, best promise first; with the cash they sum to 1."""
    raw = [2.0**-rank for rank in range(len(chosen))]
    return [(1 - CASH) * weight / sum(raw) for weight in raw]


def _opened(item: Selected, weight: float) -> Candidate:
    """A candidate before its first look."""
    one, zero = (1, 0) if item.event.flipped else (0, 1)
    words = {
        "pair": item.pair.describe(),
        "pair_number": item.number,
        "event": item.event.describe(),
        "direction": f"world {one} over world {zero}",
    }
    return Candidate(weight, _shares(item.event), item.event.held, (), words)


def _shares(event: Event) -> tuple[float, float]:
    return float(event.shares[0]), float(event.shares[1])


def _play_round(
    bench: _Bench,
    chosen: Sequence[Selected],
    runs: int,
    claim: tuple[float, float],
    before: float,
    goal: float,
) -> tuple[list[Candidate], float]:
    """Bet on the chosen events until the log wealth reaches `goal` or the round is over."""
    (epsilon, delta), done, now = claim, 0, before
    candidates = [_opened(item, weight) for item, weight in zip(chosen, _weights(chosen), strict=True)]
    for size in looks_of(runs):
        candidates = [
            c.looked(bench.counts(item, size - done)) for c, item in zip(candidates, chosen, strict=True)
        ]
        done = size
        now = float(round_wealth(candidates, np.array([epsilon]), delta, np.array([before]))[-1, 0])
        if now >= goal:
            break
    return candidates, now


def run(
    sampler: Sampler,
    select: Select,
    plan: Plan,
    terms: Terms,
    *,
    name: str = "sequential",
) -> tuple[list[Check], list[Selected], list[int]]:
    """Audit in rounds, and stop as soon as the e-value refutes the claim.

    Each round chooses pairs and events anew on selection runs that grow with it, and bets on them in fresh
    runs what the round before has left.

    Parameters
    ----------
    sampler
        Of the target.
    select
        Chooses pairs and events by the sizes of a round, as `blackbox.select` does.
    plan
        Sizes of the last round; all rounds together take at most 8 / 7 of its test runs.
    terms, name
        See `blackbox.put_to_test`.

    Returns
    -------
    checks, chosen, ranked
        One check; pairs and events of the last round, the largest e-value first; numbers of the pairs, most
        promising first.
    """
    claimed = terms.claim.epsilon, terms.claim.delta
    bench = _Bench(sampler, terms.seed, terms.workers)
    goal, wealth = math.log(terms.tests / terms.alpha), 0.0
    rounds: list[JsonDict] = []
    for part in rounds_of(plan):
        chosen, ranked = select(part)
        candidates, wealth = _play_round(bench, chosen, part.test, claimed, wealth, goal)
        rounds.append({"candidates": [c.as_dict() for c in candidates]})
        if wealth >= goal:
            break
    values = [float(c.log_e([claimed[0]], claimed[1])[-1, 0]) for c in candidates]
    order = sorted(range(len(chosen)), key=values.__getitem__, reverse=True)
    statistics = {
        **candidates[order[0]].words,
        "observe": terms.claim.observe,
        "rounds": rounds,
        "runs": sum(map(sum, bench.used.values())),
        **terms.as_dict(),
    }
    return [Check.of(name, "sequential", statistics)], [chosen[i] for i in order], ranked


def conduct(
    sampler: Sampler,
    select: Select,
    plan: Plan,
    terms: Terms,
    *,
    best: Callable[[Given], float | None] | None = None,
    name: str = "",
) -> tuple[list[Check], list[Selected], list[int]]:
    """The test that the plan asks for, sequential or of fixed size; parameters and results as of `run`.

    `best` is that of `blackbox.put_to_test`; the name is by default that of the test.
    """
    if plan.sequential:
        validate.exponent(terms.claim.epsilon)
        return run(sampler, select, plan, terms, name=name or "sequential test")
    chosen, ranked = select(plan)
    checks = blackbox.put_to_test(sampler, chosen, plan, terms, best=best, name=name or "black box")
    return checks, chosen, ranked


# ---------------------------------------------------------------- power


def rejection_power(
    p: float,
    q: float,
    plan: Plan,
    epsilon: float,
    delta: float,
    alpha: float,
    *,
    repeats: int = 400,
) -> float:
    """Share of `repeats` simulated last rounds that refute the claim, the event being hit with p and q.

    The round starts with the wealth that all the rounds before can have lost at most.
    """
    if not p > math.exp(epsilon) * q + delta:
        return 0.0
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(0, spawn_key=(SEQUENTIAL,))))
    held = max(plan.select // 2, 1)
    at_p, at_q = (_spread(rng.binomial(held, x, repeats) / held, held) for x in (p, q))
    size = len(_STEPS)
    payoffs = bet_for(np.repeat(at_p, size, axis=1), np.tile(at_q, size), epsilon, delta).log_payoffs()
    earlier = (len(rounds_of(plan)) - 1) * math.log(CASH)
    refuted = np.zeros(repeats, bool)
    for counts in _simulated(p, q, plan.test, repeats, rng):
        value = logsumexp(_LOG_WEIGHTS + log_product(payoffs, counts[..., None]), axis=1)
        wealth = np.logaddexp(math.log1p(-CASH) + value, math.log(CASH)) + earlier
        refuted |= wealth >= -math.log(alpha)
    return float(refuted.mean())


def _simulated(p: float, q: float, runs: int, repeats: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Cumulative counts (4, repeats) at the looks of a round."""
    done, counts = 0, np.zeros((4, repeats), np.int64)
    for look in looks_of(runs):
        first = rng.binomial(2 * (look - done), 0.5, repeats)
        other = 2 * (look - done) - first
        counts = np.add(counts, [rng.binomial(first, p), first, rng.binomial(other, q), other])
        done = look
        yield counts
