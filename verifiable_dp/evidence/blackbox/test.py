"""Rung 3: black-box tests. Choose a pair and an event on some runs, test the event on fresh ones."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Literal, Protocol

import numpy as np
from joblib import delayed
from msgspec import UNSET, UnsetType

from verifiable_dp.core import engine
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.neighbours import ContextGame, Neighbours
from verifiable_dp.core.reactions import Reaction
from verifiable_dp.core.validate import Given, InputError, IntArray, Json, JsonDict
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.blackbox import statistics as exact
from verifiable_dp.evidence.blackbox.algorithm_runs import AlgorithmSampler
from verifiable_dp.evidence.blackbox.events import LEVEL, Event, EventSetting, Observation
from verifiable_dp.evidence.blackbox.run_parts import Part, Sampler, parts_of, sides
from verifiable_dp.evidence.check import Check, Kind, judged
from verifiable_dp.evidence.fields import (
    Carried,
    Count,
    Delta,
    Direction,
    Hits,
    Loss,
    OpenProbability,
    PairEntry,
    Positive,
    Probability,
    Real,
    Recorded,
    Tests,
    Text,
    Verdict,
    said,
)
from verifiable_dp.evidence.rounding import of_p_value, searched
from verifiable_dp.evidence.words import bounded

ALPHA = 1e-6  # family-wise level of a refutation
CONFIDENCE = 0.95  # of the stated lower bound
PROBE, SELECT, TEST, POWER, TUNE = range(5)  # stages: each draws its own randomness
SEQUENTIAL = 16
RANKED = 8  # pairs that all probing runs go to, at least
FEW_PAIRS = 12  # of a user's bandit: so few all get the whole probing runs


def both_sides(statistics: Json) -> int:
    """Runs of a test that were counted, on both inputs."""
    return int(statistics["n1"]) + int(statistics["n0"])


class Tested(Recorded, frozen=True):
    """What every test of an event's counts holds."""

    only = ("carried",)

    pair: str
    pair_number: Count
    direction: Direction
    epsilon: Positive
    delta: Delta
    tests: Tests
    alpha: OpenProbability
    confidence: OpenProbability
    carried: Carried | UnsetType = UNSET


class BlackBoxStatistics(Tested, frozen=True, kw_only=True):
    """Counts of an event on both inputs."""

    event: Text
    observe: Literal["actions", "releases", "reports"]
    k1: Hits
    n1: Count
    k0: Count
    n0: Count
    adversary: Annotated[PairEntry | UnsetType, said("The game that was played, if it was interactive.")] = (
        UNSET
    )
    best_event_bound: Annotated[
        Loss | UnsetType,
        said(
            "Bound that the best event (Neyman-Pearson) gives at this size; only if the exact distribution "
            "is known."
        ),
    ] = UNSET


class BlackBoxResult(Recorded, frozen=True):
    """What follows."""

    verdict: Verdict
    p_value: Probability
    epsilon_lower: Loss
    epsilon_point: Real
    detectable: Annotated[
        Loss | UnsetType,
        said("Least true epsilon that this test would have refuted with probability .95 at its event."),
    ] = UNSET
    efficiency: Annotated[Loss | UnsetType, said("epsilon_lower over best_event_bound.")] = UNSET


BLACK_BOX = Kind(
    "black_box",
    "privacy",
    "exact test of the counts of an event that was chosen on other runs",
    "Ding, Wang, Wang, Zhang & Kifer, Detecting Violations of Differential Privacy, CCS 2018",
    short="sampling",
    rank=90,
    runs=both_sides,
    decisive=True,
    counts=True,
    statistics=BlackBoxStatistics,
    result=BlackBoxResult,
)
BETWEEN = Kind(
    "between",
    "privacy",
    "the same test as the black box, on data with values between the bounds",
    short="sampling",
    rank=95,
    caption="Values between the bounds, on either input",
    runs=both_sides,
    counts=True,
    statistics=BlackBoxStatistics,
    result=BlackBoxResult,
)


@dataclass(frozen=True)
class Plan:
    """Sizes of an audit, in runs a side; with the seed they determine every count.

    Attributes
    ----------
    probe
        Runs for each candidate pair, to rank them.
    select
        Runs to choose the event on.
    test
        Fresh runs to test it on; the world of each is tossed by a coin if delta is 0.
    keep
        Number of pairs that are tested; the level is divided by it.
    finalists
        Number of pairs that get selection runs, at least `keep`.
    sequential
        Whether the test is sequential (`evidence.blackbox.sequential`); these are then the sizes of its last
        round.
    beyond
        Runs a side that the test may go on to, where these are more; not recorded.
    """

    probe: int
    select: int
    test: int
    keep: int = 1
    finalists: int = 1
    sequential: bool = False
    beyond: int = 0

    def as_dict(self) -> dict[str, int]:
        """Plain values; `sequential` only where it holds."""
        found = {key: value for key, value in asdict(self).items() if key != "sequential" or value}
        del found["beyond"]
        return found


def _elsewhere(
    sampler: Given,
    pair: Given,
    path: tuple[int, int],
    sizes: tuple[int, int],
    starts: tuple[int, int],
    workers: int,
) -> Iterator[tuple[int, Given]] | None:
    ask = getattr(sampler, "elsewhere", None)
    return None if ask is None else ask(pair, path, sizes, starts, workers)


def gather(
    sampler: Sampler, pair: Neighbours, stage: int, number: int, runs: int, workers: int
) -> tuple[Observation, Observation]:
    """`runs` runs on each input of a pair."""
    parts = parts_of(sampler, (stage, number), (runs, runs))
    found = _elsewhere(sampler, pair, (stage, number), (runs, runs), (0, 0), workers)
    if found is not None:
        seen = dict(found)
        return sides(parts, [seen.pop(place) for place in range(len(parts))])
    tasks = [delayed(getattr(sampler, how))(pair, *arguments) for how, arguments in parts]
    return sides(parts, engine.ordered(engine.called, tasks, workers=workers))


class EventRule(Protocol):
    """How events are chosen, such as an `EventSetting`."""

    def events(self, left: Observation, right: Observation) -> list[Event]:
        """Those of some runs of either input."""


def learnt(
    sampler: Sampler, pair: Given, path: tuple[int, int], runs: int, rule: EventRule, workers: int
) -> list[Event]:
    """What a rule chooses on `runs` runs of each input; `path` is the stage and the number of the pair."""
    return rule.events(*gather(sampler, pair, *path, runs, workers))


@dataclass(frozen=True)
class Selected:
    """A pair and the event that was chosen for it."""

    number: int
    pair: Given  # of those that its sampler takes
    event: Event


@dataclass(frozen=True)
class Terms:
    """What a test is held to, and what its runs are made of.

    Attributes
    ----------
    claim
        What is tested.
    seed, workers
        Of the runs.
    alpha, confidence
        Levels of the audit.
    tests
        How many tests of the audit share them.
    carried
        Whether a run was seen to depend on the one before it, so that nothing follows from counts.
    """

    claim: PrivacyClaim
    seed: int = 0
    workers: int = 1
    alpha: float = ALPHA
    confidence: float = CONFIDENCE
    tests: int = 1
    carried: bool = False

    def as_dict(self) -> dict[str, float]:
        """What a check records of them."""
        claimed = {"epsilon": self.claim.epsilon, "delta": self.claim.delta}
        carried = {"carried": True} if self.carried else {}
        levels = {"alpha": self.alpha, "confidence": self.confidence, "tests": self.tests}
        return {**claimed, **levels, **carried}


def _hits_of(part: Part, seen: Given, events: Sequence[Event]) -> IntArray:
    """Hits of some events on either input, (m, 2), in what a part gave."""
    left, right = seen if part[0] == "mixed" else (seen, None) if part[1][0] == 0 else (None, seen)
    rows = [[0 if one is None else event.hits(one) for one in (left, right)] for event in events]
    return np.array(rows, np.int64).reshape(-1, 2)


def _hits(sampler: Given, pair: Given, part: Part, events: Sequence[Event]) -> IntArray:
    return _hits_of(part, getattr(sampler, part[0])(pair, *part[1]), events)


def hits_in(
    sampler: Sampler,
    pair: Given,
    path: tuple[int, int],
    sizes: tuple[int, int],
    starts: tuple[int, int],
    events: Sequence[Event],
    workers: int,
    step: str,
    asked: tuple[object, ...],
) -> IntArray:
    """Hits of some events on either input, (m, 2), in runs as `parts_of` says; only the counts are kept.

    As a `step` that `asked` tells from others, parts are kept in a checkpoint.
    """
    parts = parts_of(sampler, path, sizes, starts)
    there = _elsewhere(sampler, pair, path, sizes, starts, workers)
    if there is not None:
        hits = np.zeros((len(events), 2), np.int64)
        for place, seen in there:
            hits += _hits_of(parts[place], seen, events)
        return hits
    tasks = [delayed(_hits)(sampler, pair, part, events) for part in parts]
    said = engine.within_stage(len(tasks))
    found = engine.ordered(
        engine.called,
        tasks,
        workers=workers,
        step=step,
        asked=asked,
        ended=lambda number, done, hits: said(done),
    )
    return np.asarray(np.sum(found, axis=0, dtype=np.int64))


def count(
    sampler: Sampler,
    chosen: Selected,
    sizes: tuple[int, int],
    workers: int,
    stage: int = TEST,
    starts: tuple[int, int] = (0, 0),
) -> tuple[int, int]:
    """Hits of the event in `sizes[w]` fresh runs on each input, numbered from `starts[w]`."""
    path = (stage, chosen.number)
    asked = (*path, sizes, starts, chosen.event.describe())
    hits = hits_in(sampler, chosen.pair, path, sizes, starts, [chosen.event], workers, "count", asked)
    left, right = hits[0].tolist()
    return left, right


def coin_sizes(runs: int, delta: float, seed: int, path: tuple[int, ...]) -> tuple[int, int]:
    """Test runs on each input: 2 `runs` fair coins if delta is 0, else `runs` each."""
    if delta > 0:
        return runs, runs
    generator = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=path)))
    second = int(generator.binomial(2 * runs, 0.5))
    return 2 * runs - second, second


def rank(
    sampler: Sampler,
    pairs: Sequence[Neighbours],
    plan: Plan,
    *,
    delta: float,
    workers: int,
    among: Sequence[int] | None = None,
    level: float = LEVEL,
) -> list[int]:
    """Numbers of the most promising pairs, best first; at most eight, at least `plan.keep`.

    In two rounds: a quarter of the probing runs for all pairs, then all of them for the eight best; a user's
    bandit with few pairs has one. With
    `among` only these numbers are tried, and those that get selection runs anyway are not probed. `level` is
    that of the bound that is looked for; see `events.choose`.
    """
    if not pairs:
        raise InputError("pairs must contain at least one pair of neighbouring inputs, got none")
    ranked = list(range(len(pairs)) if among is None else among)
    least = plan.keep if among is None else max(plan.keep, plan.finalists)
    few, most = max(8, plan.probe // 4), max(RANKED, plan.keep)

    def promised(runs: int, numbers: Sequence[int]) -> dict[int, float]:
        # Few runs: more caution would favour events that are merely frequent.
        boosted = runs >= getattr(sampler, "boosted_from", 0)
        setting = EventSetting(plan.test, delta, level, caution=1.0, boosted=boosted)
        return {i: learnt(sampler, pairs[i], (PROBE, i), runs, setting, workers)[0].promise for i in numbers}

    if least < len(ranked) <= most and isinstance(sampler, AlgorithmSampler):
        # The first round leaves none out, and its draws are addressed: it is played only to break ties.
        found = promised(plan.probe, ranked)
        shared = Counter(found.values())
        first = promised(few, [i for i in ranked if shared[found[i]] > 1])
        return sorted(ranked, key=lambda i: (found[i], first.get(i, 0.0)), reverse=True)
    once = len(ranked) <= getattr(sampler, "probed_once", 0)
    for runs in (plan.probe,) if once else (few, plan.probe):
        if len(ranked) > least:
            found = promised(runs, ranked)
            ranked = sorted(ranked, key=found.__getitem__, reverse=True)[:most]
    return ranked


def select(
    sampler: Sampler,
    pairs: Sequence[Neighbours],
    plan: Plan,
    *,
    delta: float,
    workers: int,
    among: Sequence[int] | None = None,
    level: float = LEVEL,
) -> tuple[list[Selected], list[int]]:
    """Choose an event for each of the best `plan.keep` pairs; also return the ranking (see `rank`)."""

    def ranking() -> list[int]:
        return rank(sampler, pairs, plan, delta=delta, workers=workers, among=among, level=level)

    taught = getattr(sampler, "taught", None)

    def event(i: int) -> Event:
        boosted = plan.select >= getattr(sampler, "boosted_from", 0)
        offered, size = None if taught is None else taught(pairs[i]), plan.beyond or plan.test
        setting = EventSetting(size, delta, level, boosted=boosted, offered=offered)
        return learnt(sampler, pairs[i], (SELECT, i), plan.select, setting, workers)[0]

    ranked = engine.kept("rank", ranking, len(pairs), plan, among)
    finalists = ranked[: max(plan.keep, plan.finalists)]
    chosen = [
        Selected(i, pairs[i], engine.kept("event", functools.partial(event, i), i, plan)) for i in finalists
    ]
    chosen.sort(key=lambda selected: selected.event.promise, reverse=True)
    return chosen[: plan.keep], ranked


def put_to_test(
    sampler: Sampler,
    chosen: Sequence[Selected],
    plan: Plan,
    terms: Terms,
    *,
    name: str = "black box",
    best: Callable[[Given], float | None] | None = None,
    earlier: Check | None = None,
) -> list[Check]:
    """Count each chosen event in fresh runs; one check each.

    The level is shared among `len(chosen)` times `terms.tests` tests, which are the looks of the audit.
    `best(pair)` is the bound that the best event would give, where that is known. The runs of an
    `earlier` check of the event are counted, too: the test goes on.
    """
    checks = []
    for i, item in enumerate(chosen):
        one, zero = (1, 0) if item.event.flipped else (0, 1)
        # 2 is not a world: the coins share no stream with the noise, nor with those tossed before.
        path: tuple[int, ...] = (TEST, item.number)
        if earlier is not None:
            path = (*path, 2, int(earlier.statistics["n1"]) + int(earlier.statistics["n0"]))
        sizes = coin_sizes(plan.test, terms.claim.delta, terms.seed, path)
        if earlier is None:
            hits = count(sampler, item, sizes, terms.workers)
        else:
            known = [[int(earlier.statistics[f"{what}{1 - abs(w - one)}"]) for w in (0, 1)] for what in "kn"]
            fresh = count(sampler, item, sizes, terms.workers, starts=(known[1][0], known[1][1]))
            hits = known[0][0] + fresh[0], known[0][1] + fresh[1]
            sizes = known[1][0] + sizes[0], known[1][1] + sizes[1]
        checks.append(
            Check.of(
                name if len(chosen) == 1 else f"{name} {i + 1}",
                "black_box",
                {
                    "pair": item.pair.describe(),
                    "pair_number": item.number,
                    "observe": terms.claim.observe,
                    "event": item.event.describe(),
                    "direction": f"world {one} over world {zero}",
                    "k1": hits[one],
                    "n1": sizes[one],
                    "k0": hits[zero],
                    "n0": sizes[zero],
                    **terms.as_dict(),
                    "tests": len(chosen) * terms.tests,
                    **({"best_event_bound": bound} if (bound := best and best(item.pair)) else {}),
                    **({"adversary": item.pair.as_dict()} if isinstance(item.pair, ContextGame) else {}),
                },
            )
        )
    return checks


def scales(statistics: Json, result: Json) -> Json:
    """Scales of the bounds: 1, as of any logarithm of a ratio; with delta they are found by a search."""
    k1, n1, k0, n0 = (int(statistics[name]) for name in ("k1", "n1", "k0", "n0"))
    size, delta = 1.0, float(statistics["delta"])
    if k1 > delta * n1 > 0:
        size += searched(exact.SEARCHED * exact.log_ratio_error(k1, n1, k0, n0, delta))
    found = {"p_value": of_p_value(float(result["p_value"])), "epsilon_lower": size, "epsilon_point": 1.0}
    if "detectable" in result:
        found["detectable"] = searched(exact.DETECTABLE_STEP * float(statistics["epsilon"]))
    if "efficiency" in result:
        found["efficiency"] = size / float(statistics["best_event_bound"])
    return {"result": found}


@BLACK_BOX.judged_by(scales)
def _judge(statistics: Json) -> JsonDict:
    """Refuted if the family-wise p-value reaches alpha."""
    k1, n1, k0, n0 = (int(statistics[name]) for name in ("k1", "n1", "k0", "n0"))
    epsilon, delta = float(statistics["epsilon"]), float(statistics["delta"])
    tests = int(statistics["tests"])
    level = (1 - float(statistics["confidence"])) / tests
    if delta == 0:
        lower = exact.ratio_lower(k1, k0, level)
    else:
        lower = exact.approximate_lower(k1, n1, k0, n0, delta, level)
    p_value = min(1.0, exact.p_value(k1, n1, k0, n0, epsilon, delta) * tests)
    share1, share0 = k1 / n1, k0 / n0
    best = float(statistics.get("best_event_bound", 0.0))
    point = math.log((share1 - delta) / share0) if share1 > delta and share0 > 0 else math.inf
    alpha = float(statistics["alpha"])
    seen = {}
    if p_value > alpha:
        seen["detectable"] = plain(exact.detectable(k1, n1, n0, epsilon, delta, alpha / tests))
    return {
        "verdict": "refuted" if p_value <= alpha else "not_refuted",
        "p_value": p_value,
        "epsilon_lower": plain(max(lower, 0.0)),
        "epsilon_point": plain(point if k1 else 0.0),
        **seen,
        **({"efficiency": plain(max(lower, 0.0) / best)} if best else {}),
    }


@BETWEEN.judged_by(scales)
def _between(statistics: Json) -> JsonDict:
    """As a black box; never refuted, as the data may be meant to be whole numbers."""
    result = judged("black_box", statistics)
    above = float(result["epsilon_lower"]) > float(statistics["epsilon"])
    return {**result, "verdict": "inconclusive" if above else "not_refuted"}


@BETWEEN.worded_by
@BLACK_BOX.worded_by
def _black_box_in_words(numbers: Json, result: Json) -> str:
    counts = f"{numbers['k1']} of {numbers['n1']} runs against {numbers['k0']} of {numbers['n0']}"
    game = numbers.get("adversary", {})
    reacts = Reaction(game["reaction"], game["spiteful"]) if "reaction" in game else None
    return f"{counts}: {bounded(numbers, result)}{f'; {reacts.describe()}' if reacts else ''}"
