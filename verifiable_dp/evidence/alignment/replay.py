"""Rung 1: randomness alignment. The exact privacy loss of transcripts, and a bound on what they can cost.

A run is recorded on one input and replayed on its neighbour with the same releases. What the noise has to
move, in units of its scale, is the cost. hypothesis searches inputs and noise for a cost above epsilon and
shrinks what it finds.
"""

from __future__ import annotations

import itertools
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import UNSET, Meta, UnsetType

from verifiable_dp.core import tosses
from verifiable_dp.core.adversaries import flatter
from verifiable_dp.core.algorithm import Algorithm, Data, Memory, Query, State, play
from verifiable_dp.core.contextual import Sent, UserTable
from verifiable_dp.core.environments import Interactive, Table
from verifiable_dp.core.neighbours import (
    AnyPair,
    ContextGame,
    ContextPair,
    GroupPair,
    InteractivePair,
    Pair,
    StreamPair,
    TablePair,
    groups,
    interactive,
    streams,
    tables,
)
from verifiable_dp.core.noise import Divergence, Draw, Noise, Recorder, Replayer, Seeded, Tape
from verifiable_dp.core.symmetric import likelihood
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray, Json, JsonDict
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

if TYPE_CHECKING:
    import hypothesis
    from hypothesis.strategies import SearchStrategy

TOLERANCE = 1e-9
_LOST = 1e-12  # the share of a computed loss that the rounding of its sums may have added
_FAR = 10.0  # scales
_SIGNS = (1, -1, 0)  # the costliest first: examples shrink towards it


class AlignmentStatistics(Recorded, frozen=True):
    """What replaying runs of an algorithm showed."""

    epsilon: Positive
    max_cost: Loss
    max_loss: Real
    examined: Count
    visible: Annotated[
        bool, said("Whether the adversary sees the releases, so that a transcript's loss is exact.")
    ]
    divergence: Parted
    shared_draws: Annotated[
        bool | UnsetType, said("Whether runs published values without a draw of their own.")
    ] = UNSET
    strategies: Annotated[
        AtLeastOne | UnsetType, said("Interactive adversaries that were played against.")
    ] = UNSET
    challenges: Annotated[AtLeastOne | UnsetType, said("Rounds in which they placed their challenge.")] = (
        UNSET
    )
    spent: Annotated[
        Annotated[tuple[tuple[Count, Real, Real], ...], Meta(max_length=200)] | UnsetType,
        said(
            "[rounds so far, cost so far, loss so far] of the costliest transcript of the audited instance, "
            "where they change."
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
    rank=10,
    counts=True,
    statistics=AlignmentStatistics,
    result=AlignmentResult,
)


def exceeds(paid: float, epsilon: float) -> bool:
    """Whether a loss, or a cost, is above `epsilon` by more than rounding explains."""
    return bool(paid > epsilon * (1 + TOLERANCE))


def at_least(loss: float, epsilon: float) -> float:
    """The lower bound on epsilon that a computed loss shows: rounded down; above a claim if it exceeds it.

    Losses are rounded to the nearest float, so that the largest of many lies above a supremum that is
    attained.
    """
    below = loss * (1 - _LOST)
    return below if exceeds(loss, epsilon) else min(below, epsilon)


def worlds(pair: AnyPair, n_arms: int, runs: int, first: int = 0) -> tuple[Data, Data]:
    """What answers the queries of runs number `first` .. `first + runs - 1` in either world of a pair."""
    if isinstance(pair, InteractivePair):
        return Interactive(pair, 0, n_arms, runs, first), Interactive(pair, 1, n_arms, runs, first)
    left, right = pair.worlds()
    unseen = pair.round if isinstance(pair, ContextPair) and pair.joint else -1
    if isinstance(pair, ContextGame):
        here, there = (Sent(pair.form, pair.guests(w, runs), unseen, first) for w in (0, 1))
        return here, there
    if isinstance(pair, ContextPair):
        return UserTable(pair.form, left, unseen), UserTable(pair.form, right, unseen)
    return Table(left), Table(right)


def one_sided(inner: Noise, sign: int) -> Noise:
    """A source whose visible noise is all up (sign 1) or all down (sign -1); 0 leaves it as it is.

    With one sign, a change that moves every release the same way costs its full amount: the transcripts
    of the worst case. They have positive density like any other.
    """

    def source(draw: Draw) -> FloatArray:
        out = inner(draw)
        if sign == 0 or draw.hidden is not None or draw.count is not None:
            return out
        # Beyond the change itself, so that the whole change is paid, and where a law with other tails shows.
        span = np.abs(out - draw.value) + 2.0 * (draw.scale > 0) + _FAR * draw.scale
        return np.asarray(draw.value + sign * span)

    return source


@dataclass(frozen=True)
class Replay:
    """A batch of transcripts, recorded on one input and forced on its neighbour.

    Attributes
    ----------
    cost, loss, square : (n,) float
        See `noise.Replayer`.
    matrices : list of tuple
        See there.
    diverged : dict
        Why a run left the recorded path, by run.
    tape : Tape
        What was recorded.
    """

    cost: FloatArray
    loss: FloatArray
    diverged: Mapping[int, Divergence]
    tape: Tape
    square: FloatArray = field(default_factory=lambda: np.zeros(0))
    matrices: Sequence[tuple[IntArray, FloatArray, int]] = ()


def replay(
    algorithm: Algorithm,
    pair: AnyPair,
    *,
    seed: int = 0,
    sign: int = 0,
    runs: int = 1,
    turned: bool = False,
) -> Replay:
    """Record `runs` runs on the left input and force them on the right one.

    Parameters
    ----------
    algorithm
        Any algorithm whose noise comes through the door of `noise`.
    pair
        Neighbouring inputs.
    seed, sign
        Of the noise; see `one_sided`.
    turned
        Record on the right input instead.
    """
    data = worlds(pair, algorithm.n_arms, runs)
    first, second = (data[1], data[0]) if turned else data
    run = np.arange(runs)
    recorder = Recorder(one_sided(Seeded(seed), sign))
    there = play(algorithm, first, recorder, run)
    tape = recorder.tape()
    replayer = Replayer(tape, runs)
    here = play(algorithm, second, replayer, run)
    replayer.finish()
    same = _alike(there.actions, here.actions, -1)
    published = _alike(there.released, here.released, np.nan)
    for wrong, why in (
        (_undrawn(there.released, tape), Divergence.UNDRAWN),
        (~same, Divergence.ACTIONS),
        (~published, Divergence.PUBLISHED),
    ):
        for index in np.flatnonzero(wrong & np.isfinite(replayer.cost)).tolist():
            replayer.diverged[index] = why
            replayer.cost[index] = replayer.loss[index] = replayer.square[index] = np.inf
    done = Replay(replayer.cost, replayer.loss, replayer.diverged, tape, replayer.square, replayer.matrices)
    if isinstance(pair, Pair) and pair.size > 1 and len(tape.hidden.address):
        return _chained(algorithm, pair.steps(), done, seed=seed, sign=sign, turned=turned)
    return done


def _chained(
    algorithm: Algorithm, steps: Sequence[AnyPair], whole: Replay, *, seed: int, sign: int, turned: bool
) -> Replay:
    """A replay between inputs that differ in several events, its cost taken one event at a time if finite.

    A mechanism that hides its noise declares how to shift it for one event. Proofs for single events add up
    along a chain of neighbours, while a shift for one of them need not carry over all of them at once.
    """
    runs = len(whole.cost)
    parts = [replay(algorithm, step, seed=seed, sign=sign, runs=runs, turned=turned) for step in steps]
    cost = np.sum([part.cost for part in parts], axis=0)
    better = np.isfinite(cost) & ~np.isfinite(whole.cost)
    return replace(
        whole,
        cost=np.where(better, cost, whole.cost),
        loss=np.where(better, np.sum([part.loss for part in parts], axis=0), whole.loss),
        square=np.where(better, np.sum([np.sqrt(part.square) for part in parts], axis=0) ** 2, whole.square),
        diverged={run: why for run, why in whole.diverged.items() if not better[run]},
    )


def _alike(there: FloatArray | IntArray, here: FloatArray | IntArray, missing: float) -> BoolArray:
    """Whether rows of two arrays (n, s) are equal, the shorter one being filled with `missing`."""
    width = max(there.shape[1], here.shape[1])

    def wide(columns: FloatArray | IntArray) -> FloatArray | IntArray:
        out: FloatArray | IntArray = np.full((len(columns), width), missing, columns.dtype)
        out[:, : columns.shape[1]] = columns
        return out

    left, right = wide(there), wide(here)
    if left.dtype.kind == "i":
        return np.asarray((left == right).all(axis=1), dtype=bool)
    if np.array_equal(left, right, equal_nan=True):  # as nearly always
        return np.ones(len(left), bool)
    # Forced releases are equal to the last bit, or up to rounding where they are rescaled.
    return np.asarray(np.isclose(left, right, rtol=1e-12, atol=0, equal_nan=True).all(axis=1))


def _undrawn(released: FloatArray, tape: Tape) -> BoolArray:
    """Runs that published something but are not on the tape: they used the draws of another run."""
    drew = np.zeros(len(released), bool)
    for entries in (tape.releases, tape.hidden):
        drew[entries.address[:, 0]] = True
    return np.asarray(np.isfinite(released).any(axis=1) & ~drew)


class _Meter:
    """Reads what the replay of one run has cost whenever a block begins."""

    def __init__(self, replayer: Replayer, run: int) -> None:
        self._replayer, self._run = replayer, run
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
        paid = float(self._replayer.cost[self._run]), float(self._replayer.loss[self._run])
        if paid != (self.readings[-1][1:] if self.readings else (0.0, 0.0)):
            self.readings.append((self.rounds, *paid))


_READINGS = 200


def over_time(
    algorithm: Algorithm, pair: AnyPair, *, seed: int, sign: int, turned: bool, run: int = 0
) -> list[list[float | str]]:
    """How the cost and the loss of a transcript add up over the rounds, as `replay` gives them in the end.

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
    meter = _Meter(replayer, run)
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
class Found:
    """The costliest transcripts that were seen.

    Attributes
    ----------
    examined
        Number of transcripts.
    cost, loss
        Largest cost, and largest loss in absolute value.
    divergence
        Why a run left the recorded path; empty if none did.
    worst
        Counterexample or costliest case as plain values: pair, seed, sign, cost, loss, releases.
    """

    examined: int
    cost: float
    loss: float
    divergence: str
    worst: Json

    def merge(self, other: Found) -> Found:
        """Both together."""
        dearer = max(self, other, key=lambda found: found.cost)
        return Found(
            self.examined + other.examined,
            max(self.cost, other.cost),
            max(self.loss, other.loss),
            self.divergence or other.divergence,
            dearer.worst,
        )


_NOTHING = Found(0, 0.0, 0.0, "", {})


def examine(algorithm: Algorithm, pair: AnyPair, *, seed: int, runs: int = 32) -> Found:
    """Replay a pair in both directions, with free and with one-sided noise."""
    found = _NOTHING
    for turned in (False, True):
        for sign in _SIGNS:
            count = runs if sign == 0 else 1
            done = replay(algorithm, pair, seed=seed, sign=sign, runs=count, turned=turned)
            cost = np.where(done.square > 0, np.inf, done.cost)  # of normal noise no loss is the largest
            worst = int(np.argmax(cost))
            found = found.merge(
                Found(
                    count,
                    float(cost[worst]),
                    float(np.abs(done.loss).max()),
                    next(iter(done.diverged.values()), ""),
                    _counterexample(pair, done, worst, seed, sign, turned),
                )
            )
    return found


def _counterexample(pair: AnyPair, done: Replay, run: int, seed: int, sign: int, turned: bool) -> JsonDict:
    rows = done.tape.rows(run)[:12]
    return {
        "pair": pair.as_dict(),
        "seed": seed,
        "sign": sign,
        "run": run,
        "turned": turned,
        "cost": plain(float(done.cost[run])),
        "loss": plain(float(done.loss[run])),
        "divergence": done.diverged.get(run, ""),
        "releases": [{name: row[name] for name in ("slot", "value", "scale", "output")} for row in rows],
    }


def plain(number: float) -> float | str:
    """The number, or ``inf``, ``-inf``, ``nan`` as a string: JSON has none of these."""
    return number if np.isfinite(number) else str(number)


def _strategy(algorithm: Algorithm, group: int = 1) -> SearchStrategy[AnyPair]:
    if group > 1:
        most = min(group, algorithm.horizon)
        return groups(
            n_arms=algorithm.n_arms, horizon=algorithm.horizon, size=most, bounds=algorithm.search_bounds
        )
    if algorithm.n_arms == 1:
        return streams(horizon=algorithm.horizon, bounds=algorithm.search_bounds)
    shape: JsonDict = {
        "n_arms": algorithm.n_arms,
        "horizon": algorithm.horizon,
        "bounds": algorithm.search_bounds,
    }
    # A table is the simpler counterexample: examples shrink towards it.
    kinds: list[SearchStrategy[AnyPair]] = [tables(**shape), interactive(**shape)]
    return tosses.below(len(kinds)).flatmap(kinds.__getitem__)


def _corners(algorithm: Algorithm, group: int = 1) -> Iterator[AnyPair]:
    """Pairs that every search begins with: the simplest of each kind, by where they differ.

    That is at either end, and at powers of two, where blocks and trees begin.
    """
    bounds, arms, horizon = algorithm.search_bounds, algorithm.n_arms, algorithm.horizon
    low, high = bounds
    lows = np.full((horizon, arms), float(low))
    places = {0, horizon - 1, max(0, horizon - 2), *(1 << bit for bit in range((horizon - 1).bit_length()))}
    for at in sorted(places):
        if group > 1:
            most = min(group, horizon)
            first = min(at, horizon - most)
            yield GroupPair(lows, [(first + more, 0, high) for more in range(most)], bounds)
        elif arms == 1:
            yield StreamPair(lows[:, 0], at, high, 1, bounds)
        else:
            yield TablePair(lows, at, 0, high, bounds)
            yield InteractivePair(flatter(bounds, 0), at, low, high, bounds)


@contextmanager
def leaving_nothing() -> Iterator[None]:
    """Let hypothesis keep what it caches out of the user's folder."""
    from hypothesis.configuration import set_hypothesis_home_dir

    with tempfile.TemporaryDirectory(prefix="verifiable-dp-") as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(None)


def searching(examples: int) -> hypothesis.settings:
    """hypothesis's settings of a search by itself: quiet, not timed, knowing of none before it."""
    from hypothesis import HealthCheck, Phase, Verbosity, settings

    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


def falsify(
    algorithm: Algorithm,
    epsilon: float,
    *,
    seed: int,
    examples: int,
    visible: bool = False,
    group: int = 1,
) -> Found:
    """Look for a transcript that costs more than epsilon: at corners, then with hypothesis, which shrinks it.

    Parameters
    ----------
    algorithm
        A small instance.
    epsilon
        The claim.
    seed
        Of the search: the same seed finds the same.
    examples
        Largest number of examples beyond the corners, before shrinking.
    visible
        Look for an exact loss above epsilon rather than for a cost.
    group
        Number of events in which the inputs may differ.
    """
    from hypothesis import find
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

    seen = _NOTHING

    def costs_too_much(drawn: tuple[AnyPair, int, int, bool]) -> bool:
        nonlocal seen
        pair, noise_seed, sign, turned = drawn
        done = replay(algorithm, pair, seed=noise_seed, sign=sign, turned=turned)
        seen = seen.merge(
            Found(
                1,
                float(done.cost[0]),
                float(abs(done.loss[0])),
                done.diverged.get(0, ""),
                _counterexample(pair, done, 0, noise_seed, sign, turned),
            )
        )
        return exceeds(abs(done.loss[0]) if visible else done.cost[0], epsilon)

    smallest: tuple[AnyPair, int, int, bool] | None = None
    for corner, sign in itertools.product(_corners(algorithm, group), (1, -1)):
        if costs_too_much((corner, 0, sign, False)):
            smallest = corner, 0, sign, False
            break
    else:
        drawn = st.tuples(_strategy(algorithm, group), tosses.below(8), tosses.one_of(_SIGNS), st.booleans())
        settings = searching(examples)
        with leaving_nothing(), suppress(NoSuchExample):
            smallest = find(drawn, costs_too_much, settings=settings, random=random.Random(seed))
    if smallest is None:
        return seen
    pair, noise_seed, sign, turned = smallest
    done = replay(algorithm, pair, seed=noise_seed, sign=sign, turned=turned)
    return replace(seen, worst=_counterexample(pair, done, 0, noise_seed, sign, turned))


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
    given, costliest, searched = _NOTHING, None, _NOTHING
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


# ---------------------------------------------------------------- likelihoods of many transcripts


class _Echo:
    """Answers the first pass from `inner` and the second with the same outputs, adding up the loss."""

    def __init__(self, inner: Noise, runs: int) -> None:
        self._inner = inner
        self._calls: list[tuple[Draw, FloatArray, FloatArray | None]] = []
        self._next: int | None = None
        self.loss = np.zeros(runs)
        self.known = True

    def rewind(self) -> None:
        self._next = 0

    def __call__(self, draw: Draw) -> FloatArray:
        if draw.hidden is not None:
            self.known = False
            return self._inner(draw)
        if self._next is None:
            out, own = self._inner(draw), None
            if draw.count is not None:
                # The noise of the one report that may differ; what the others add tells nothing.
                one = replace(draw, value=np.zeros_like(draw.value), slot=-1 - draw.slot, count=None)
                own = self._inner(one)
            self._calls.append((draw, out, own))
            return out
        if self._next >= len(self._calls):
            self.loss[:] = np.inf
            return draw.value
        there, out, own = self._calls[self._next]
        self._next += 1
        with np.errstate(divide="ignore", invalid="ignore"):
            if draw.freedom:
                terms = np.zeros_like(out)
                even = (draw.scale[:, 0] > 0) & (draw.scale == draw.scale[:, :1]).all(axis=1)
                even &= (there.value != draw.value).any(axis=1)  # equal ones, which most are, say nothing
                exact = there.value[even], draw.value[even]
                terms[even, 0] = likelihood(out[even], *exact, draw.scale[even, 0], draw.freedom)[0]
            elif draw.normal:
                terms = (there.value - draw.value) * (2 * out - draw.value - there.value)
                terms = terms / (2 * draw.scale**2)
            elif own is None:
                terms = (np.abs(out - draw.value) - np.abs(out - there.value)) / draw.scale
            else:
                terms = (np.abs(own + there.value - draw.value) - np.abs(own)) / draw.scale
        terms = np.where(draw.scale > 0, terms, np.where(draw.value == there.value, 0.0, np.inf))
        odd = (there.scale != draw.scale) & draw.where
        terms = np.where(odd | (there.where != draw.where), np.inf, np.where(draw.where, terms, 0.0))
        self.loss += terms.sum(axis=1)
        return out


@dataclass(frozen=True)
class _TwinMemory:
    here: Memory
    there: Memory

    def take(self, index: IntArray) -> _TwinMemory:
        return _TwinMemory(self.here.take(index), self.there.take(index))


class Twin(Algorithm):
    """Plays an algorithm and, beside it, what each release would have weighed on the other input.

    After `play`, `loss` (n,) is the log-likelihood ratio of each transcript, its own input over the
    other, or `known` is False because noise was hidden.
    """

    def __init__(self, inner: Algorithm, other: Data, runs: int) -> None:
        self.inner, self.other = inner, other
        self.n_arms, self.horizon = inner.n_arms, inner.horizon
        self.loss = np.zeros(runs)
        self.known = True

    def start(self, run: IntArray) -> State:
        """As the algorithm underneath; runs are numbered from `run[0]`."""
        self._first = int(run[0])
        return self.inner.start(run)

    def private(self, run: IntArray) -> Memory:
        """Both memories."""
        return _TwinMemory(self.inner.private(run), self.inner.private(run))

    def query(self, state: State) -> Query:
        """As the algorithm underneath."""
        return self.inner.query(state)

    def release(
        self, state: State, memory: Memory, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Release here, weigh there."""
        assert isinstance(memory, _TwinMemory)
        echo = _Echo(noise, len(state.run))
        here, released = self.inner.release(state, memory.here, query, answer, echo)
        if not echo.known:
            self.known = False
            return _TwinMemory(here, memory.there), released
        echo.rewind()
        other = self.other.answer(query, state.run)
        there, shown = self.inner.release(state, memory.there, query, other, echo)
        leaks = ~_alike(released, shown, np.nan)
        self.loss[state.run - self._first] += np.where(leaks, np.inf, echo.loss)
        return _TwinMemory(here, there), released

    def decide(self, state: State, query: Query, released: FloatArray) -> State:
        """As the algorithm underneath."""
        return self.inner.decide(state, query, released)

    def output(self, state: State) -> FloatArray:
        """As the algorithm underneath."""
        return self.inner.output(state)
