"""The alignment check: replays of given and of found neighbours, with a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from msgspec import UNSET, Meta, UnsetType

from verifiable_dp.core.algorithm import Algorithm, Query, play
from verifiable_dp.core.neighbours import AnyPair, Pair
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.tapes import Divergence, Recorder, Replayer
from verifiable_dp.core.validate import IntArray, Json, JsonDict
from verifiable_dp.evidence.alignment.replay import at_least, exceeds, one_sided, worlds
from verifiable_dp.evidence.alignment.searching import NOTHING, Found, examine, falsify, plain
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.fields import (
    AtLeastOne,
    Count,
    Loss,
    Parted,
    Positive,
    Real,
    Recorded,
    Verdict,
    said,
)
from verifiable_dp.evidence.words import digits


class AlignmentStatistics(Recorded, frozen=True):
    """What replaying runs of an algorithm showed."""

    epsilon: Positive
    max_cost: Loss
    max_loss: Real
    examined: Count
    visible: Annotated[
        bool, said("Whether the adversary sees the releases, so a transcript's loss is exact.")
    ]
    divergence: Parted
    shared_draws: Annotated[
        bool | UnsetType, said("Whether runs published values without a draw of their own.")
    ] = UNSET
    strategies: Annotated[
        AtLeastOne | UnsetType, said("Interactive adversaries that were played against.")
    ] = UNSET
    challenges: Annotated[
        AtLeastOne | UnsetType, said("Rounds in which these adversaries placed their challenge.")
    ] = UNSET
    spent: Annotated[
        Annotated[tuple[tuple[Count, Real, Real], ...], Meta(max_length=200)] | UnsetType,
        said(
            "[rounds so far, cost so far, loss so far] of the costliest transcript of the audited instance, "
            "wherever they change; with normal and Wishart noise, cost and loss are epsilons at the claim's "
            "delta."
        ),
    ] = UNSET


class AlignmentResult(Recorded, frozen=True):
    """What follows."""

    verdict: Verdict
    cost_over_epsilon: Loss
    epsilon_lower: Loss
    noise_wasted: bool


ALIGNMENT = Kind(
    "alignment",
    "privacy",
    "randomness alignment: runs replayed on the neighbouring input with the same releases",
    "Zhang & Kifer, LightDP: Towards Automating Differential Privacy Proofs, POPL 2017",
    short="replayed runs",
    rank=10,
    counts=True,
    statistics=AlignmentStatistics,
    result=AlignmentResult,
)


Paid = Callable[[Replayer, int], tuple[float, float]]  # cost and loss of a run so far


def _added(replayer: Replayer, run: int) -> tuple[float, float]:
    """Those of noise whose costs add up."""
    return float(replayer.cost[run]), float(replayer.loss[run])


class _Meter:
    """Reads what the replay of one run has cost whenever a block begins."""

    def __init__(self, replayer: Replayer, run: int, paid: Paid) -> None:
        self._replayer, self._run, self._paid = replayer, run, paid
        self.rounds = 0
        self.readings: list[tuple[int, float, float]] = []

    def block(self, position: IntArray, query: Query) -> None:
        """See `Watch.block`."""
        row = np.flatnonzero(position == self._run)
        if len(row):
            self.read()
            self.rounds += int(query.rounds[row[0]])

    def read(self) -> None:
        """Note round, cost and loss where they changed."""
        paid = self._paid(self._replayer, self._run)
        if paid != (self.readings[-1][1:] if self.readings else (0.0, 0.0)):
            self.readings.append((self.rounds, *paid))


_READINGS = 200


def over_time(
    algorithm: Algorithm,
    pair: AnyPair,
    *,
    seed: int,
    sign: int,
    turned: bool,
    run: int = 0,
    paid: Paid = _added,
) -> list[list[float | str]]:
    """How the cost and the loss of a transcript add up over the rounds, as `replay` gives them in the end.

    Parameters
    ----------
    algorithm, pair, seed, sign, turned, run
        Of the transcript.
    paid
        Reads what it has paid so far.

    Returns
    -------
    list
        At most 200 rows [rounds so far, cost so far, loss so far] where they change, the last one at the
        end of the run; empty where the inputs differ in several events, whose costs add up otherwise.
    """
    if isinstance(pair, Pair) and pair.size > 1:
        return []
    runs = np.arange(run + 1)
    data = worlds(pair, algorithm.n_arms, len(runs))
    first, second = (data[1], data[0]) if turned else data
    recorder = Recorder(one_sided(Seeded(seed), sign))
    play(algorithm, first, recorder, runs, keep=())
    replayer = Replayer(recorder.tape(), len(runs))
    meter = _Meter(replayer, run, paid)
    play(algorithm, second, replayer, runs, keep=(), watch=meter)
    replayer.finish()
    meter.read()
    rows = meter.readings
    step = -(-len(rows) // (_READINGS - 1))
    kept = [part[-1] for part in (rows[i : i + step] for i in range(0, len(rows), step))] if rows else []
    if not kept or kept[-1][0] < meter.rounds:
        kept.append((meter.rounds, *(kept[-1][1:] if kept else (0.0, 0.0))))
    return [[rounds, plain(cost), plain(loss)] for rounds, cost, loss in kept]


@dataclass(frozen=True)
class Instance:
    """An algorithm, the epsilon that it promises, and what a counterexample says of where it was found."""

    algorithm: Algorithm
    epsilon: float
    said: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Search:
    """How transcripts are looked for.

    Attributes
    ----------
    seed
        Of the noise and of the search.
    examples
        Of the search on the small instance; with 0 there is none.
    group
        Number of events in which its inputs may differ.
    enough
        Whether to stop at what refutes the claim, the search or a pair.
    """

    seed: int
    examples: int
    group: int = 1
    enough: bool = False


def check(
    whole: Instance,
    small: Instance,
    pairs: Sequence[AnyPair],
    search: Search,
    *,
    visible: bool,
    name: str = "alignment",
    timed: bool = False,
) -> tuple[Check, Found]:
    """The alignment check: given pairs on the audited instance, searched ones on the small instance.

    Parameters
    ----------
    whole, small
        The audited instance, and a small one for the search.
    pairs
        Neighbouring inputs for the audited instance.
    search
        How much is tried.
    visible
        Whether the adversary sees every release, so that a transcript's loss is exact.
    timed
        Whether to record how the costliest transcript of the audited instance pays over the rounds.
    """
    epsilon, small_epsilon = whole.epsilon, small.epsilon
    given, costliest, searched = NOTHING, None, NOTHING
    if search.examples:
        searched = falsify(
            small.algorithm,
            small_epsilon,
            seed=search.seed,
            examples=search.examples,
            visible=visible,
            group=search.group,
        )
    for pair in pairs:
        shown = _refutes(searched, small_epsilon, visible) or _refutes(given, epsilon, visible)
        if search.enough and shown:
            break
        found = examine(whole.algorithm, pair, seed=search.seed)
        if found.cost > given.cost or costliest is None:
            costliest = pair
        given = given.merge(found)
    dearest = max(given.cost / epsilon, searched.cost / small_epsilon)
    largest = max(given.loss / epsilon, searched.loss / small_epsilon)
    # A violation is shown by its shrunk example; without one, the costlier instance speaks.
    on_small = exceeds(searched.cost, small_epsilon) or searched.cost / small_epsilon > given.cost / epsilon
    worse = searched if on_small else given
    if worse.worst:
        worse = replace(worse, worst={**worse.worst, **(small if on_small else whole).said})
    statistics: JsonDict = {
        "epsilon": epsilon,
        "visible": visible,
        "examined": given.examined + searched.examined,
        "max_cost": plain(dearest * epsilon),
        "max_loss": plain(largest * epsilon),
        "divergence": given.divergence or searched.divergence,
    }
    if given.divergence == Divergence.UNDRAWN:
        statistics["shared_draws"] = True
    if timed and costliest is not None and given.worst:
        drawn = {key: given.worst[key] for key in ("seed", "sign", "turned", "run")}
        statistics["spent"] = over_time(whole.algorithm, costliest, **drawn)
    return Check.of(name, "alignment", statistics), worse


def _refutes(found: Found, epsilon: float, visible: bool) -> bool:
    return found.divergence == Divergence.UNDRAWN or (visible and exceeds(found.loss, epsilon))


def cost_scales(statistics: Json, result: Json) -> Json:
    """Scale of costs and losses: the claim, which they are held against."""
    costs = ("max_cost", "max_loss", "loss", "rho", "attribution", "spent")
    epsilon = float(statistics["epsilon"])
    return {
        "statistics": dict.fromkeys(costs, epsilon),
        "result": {"cost_over_epsilon": 1.0, "epsilon_lower": epsilon},
    }


@ALIGNMENT.judged_by(cost_scales)
def _judge(statistics: Json) -> JsonDict:
    """Refuted by an exact loss above epsilon; a cost above it where outputs are hidden settles nothing.

    Runs that share their draws are refuted too: the output of one tells that of another.
    """
    epsilon, cost = float(statistics["epsilon"]), float(statistics["max_cost"])
    loss = float(statistics["max_loss"])
    if statistics.get("shared_draws") or (statistics["visible"] and exceeds(loss, epsilon)):
        verdict = "refuted"
    else:
        verdict = "inconclusive" if exceeds(cost, epsilon) else "not_refuted"
    return {
        "verdict": verdict,
        "cost_over_epsilon": plain(cost / epsilon),
        "epsilon_lower": plain(at_least(loss, epsilon)) if statistics["visible"] else 0.0,
        "noise_wasted": bool(cost < epsilon * (1 - 1e-6)),
    }


@ALIGNMENT.worded_by
def _alignment_in_words(numbers: Json, result: Json) -> str:
    cost = f"largest cost {digits(numbers['max_cost'])} in {numbers['examined']} replayed runs"
    return f"{cost}, claimed {digits(numbers['epsilon'])}"
