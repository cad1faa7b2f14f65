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

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from msgspec import UNSET, Meta, UnsetType
from scipy.special import logsumexp

from verifiable_dp.core import validate
from verifiable_dp.core.validate import Given, InputError, IntArray, Json, JsonDict
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.bets import (
    CASH,
    LOG_WEIGHTS,
    STEPS,
    Candidate,
    Counts,
    bet_for,
    detectable,
    log_product,
    log_wealth,
    lower_limits,
    round_wealth,
    spread,
)
from verifiable_dp.evidence.blackbox.events import Event
from verifiable_dp.evidence.blackbox.run_parts import Sampler
from verifiable_dp.evidence.blackbox.statistics import DETECTABLE_STEP
from verifiable_dp.evidence.blackbox.test import SEQUENTIAL, Plan, Selected, Terms, Tested
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

Select = Callable[[Plan], tuple[list[Selected], list[int]]]
_RATIO = 8  # of the sizes of consecutive rounds
_LEAST = 500  # runs a side of the first round, at least
_LOOKS = 6  # looks at a round, by powers of the square root of 2


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
            description=("Share of the wealth that is bet on this candidate; the rest is set aside."),
        ),
    ]
    shares: Annotated[
        tuple[Probability, Probability],
        said("Frequencies on the selection runs, more frequent world first: bets are placed around them."),
    ]
    held: Annotated[Count, said("Number of selection runs on each side.")]
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
        said("Of the event with the largest e-value in the last round, like the fields below."),
    ]
    event: Text
    observe: Literal["actions", "releases", "reports"]
    rounds: Annotated[
        tuple[SequentialRound, ...],
        Meta(
            min_length=1,
            description=(
                "Each round bets what the previous round left, on events chosen on its own selection runs."
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
    "e-process of bets on events that were chosen on other runs",
    "Waudby-Smith & Ramdas, Estimating means of bounded random variables by betting, JRSS B 2024",
    short="sampling",
    rank=80,
    runs=lambda statistics: int(statistics["runs"]),
    decisive=True,
    counts=True,
    statistics=SequentialStatistics,
    result=SequentialResult,
)


# ---------------------------------------------------------------- candidates and rounds


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
        seen["detectable"] = plain(detectable(rounds, epsilon, delta, float(statistics["alpha"]) / tests))
    return {
        "verdict": "refuted" if log_p <= math.log(float(statistics["alpha"])) else "not_refuted",
        "log_e_value": float(path[-1]),
        "largest_log_e_value": highest,
        "p_value": math.exp(log_p),
        "epsilon_lower": plain(float(limits[-1])),
        **seen,
        "looks": len(path),
    }


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
    at_p, at_q = (spread(rng.binomial(held, x, repeats) / held, held) for x in (p, q))
    size = len(STEPS)
    payoffs = bet_for(np.repeat(at_p, size, axis=1), np.tile(at_q, size), epsilon, delta).log_payoffs()
    earlier = (len(rounds_of(plan)) - 1) * math.log(CASH)
    refuted = np.zeros(repeats, bool)
    for counts in _simulated(p, q, plan.test, repeats, rng):
        value = logsumexp(LOG_WEIGHTS + log_product(payoffs, counts[..., None]), axis=1)
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
