"""Rung 1 for a user's bandit: traced runs on neighbouring rewards, the costliest, and what leaks where."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verifiable_dp.core import tosses
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.neighbours import ContextPair, Pair, TablePair, contexts, tables
from verifiable_dp.core.validate import FloatArray, Foreign, Function, Json, JsonDict
from verifiable_dp.evidence.alignment.checking import cost_scales
from verifiable_dp.evidence.alignment.replay import at_least, exceeds
from verifiable_dp.evidence.alignment.searching import leaving_nothing, plain, searching
from verifiable_dp.evidence.check import Check, Kind
from verifiable_dp.evidence.tracing import flow, laws
from verifiable_dp.evidence.tracing.arrays import is_tracked
from verifiable_dp.evidence.tracing.foreign import plain_run, sources
from verifiable_dp.evidence.tracing.ledger import (
    DATA,
    OF_USERS,
    Chosen,
    Lead,
    Note,
    NoteKind,
    Place,
    Release,
    in_order,
    same,
    words_of,
)
from verifiable_dp.evidence.tracing.numbers import TracingResult, TracingStatistics
from verifiable_dp.evidence.tracing.reach import functions_of, scopes_of
from verifiable_dp.evidence.tracing.trace import Traced, trace
from verifiable_dp.evidence.words import digits

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_MOST_PLACES = 48  # rewards of one table that are changed in turn
_LEADS = 12
_AGAIN = 4  # replays on the same input that show whether all that decides a run is known
FIXED = "the noise does not depend on epsilon"
_WORK = 150_000  # tracked operations of the recorded runs of one examination
_LEAST, _SHRINKS = 6, 40
_SUSPECTS, _ARMS = 6, 4  # pairs that lead the black box, and arms that are looked at for them

Key = tuple[str, Place]


TRACING = Kind(
    "tracing",
    "privacy",
    "randomness alignment of traced code: tracked rewards and noise, same releases",
    "Zhang & Kifer, LightDP: Towards Automating Differential Privacy Proofs, POPL 2017",
    short="tracing",
    rank=30,
    counts=True,
    statistics=TracingStatistics,
    result=TracingResult,
)


@dataclass(frozen=True)
class TracedUsers:
    """Of a bandit that is told contexts.

    Parameters
    ----------
    form
        Of the contexts.
    joint
        Whether the action of the user whose data changes is not seen.
    reward_only
        Whether that user's context stays.
    """

    form: Contexts
    joint: bool = False
    reward_only: bool = False


@dataclass(frozen=True)
class Others:
    """A bandit of which the action in one round is not seen."""

    function: Function[Foreign]
    round: int

    @property
    def __wrapped__(self) -> Function[Foreign]:
        """Where the source is."""
        return self.function

    def __call__(self, table: Foreign, rng: Foreign) -> Foreign:
        """All other actions."""
        actions = self.function(table, rng)
        if is_tracked(actions):
            return actions[np.arange(len(actions)) != self.round]
        kept = [action for when, action in enumerate(actions) if when != self.round]
        return kept if isinstance(actions, list | tuple) else np.array(kept)


@dataclass(frozen=True)
class TracedBandit:
    """A bandit to be traced.

    Parameters
    ----------
    function
        `play(rewards, rng) -> actions`.
    n_arms, horizon, bounds
        K, T and the range of the rewards.
    files
        Files whose lines are named; the modules beside them are added.
    answers
        Functions whose results are actions; `function` itself if empty.
    users
        What is known of users where it is told contexts.
    """

    function: Function[Foreign]
    n_arms: int
    horizon: int
    bounds: tuple[float, float]
    files: frozenset[str]
    answers: tuple[Function[Foreign], ...] = ()
    users: TracedUsers | None = None

    @functools.cached_property
    def scopes(self) -> dict[str, dict[str, object]]:
        """Globals of the traced code, by file."""
        return scopes_of(self.function)

    @property
    def choosing(self) -> frozenset[Place]:
        """Lines of the methods that choose arms."""
        found: set[Place] = set()
        for function in self.answers:
            try:
                lines, first = inspect.getsourcelines(function)
            except (OSError, TypeError):
                continue
            file = function.__code__.co_filename
            found |= {Place(file, first + i) for i in range(len(lines))}
        return frozenset(found)

    @property
    def actions(self) -> tuple[Place, ...]:
        """Lines on which actions come out."""
        return flow.returns_of(self.answers or functions_of(self.function)[:1])

    def seen(self, pair: Pair) -> Function[Foreign]:
        """The bandit as far as its actions are seen."""
        return Others(self.function, pair.round) if self.users and self.users.joint else self.function

    def trace(self, pair: Pair, seed: int, *, watch: bool = False) -> Traced:
        """Record on the left table, replay on the right one; see `trace.run`."""
        left, right = pair.worlds()
        bits = functools.partial(np.random.Philox, seed)
        return trace(self.seen(pair), left, right, bits, self.files, self.scopes, watch=watch)

    def repeats(self, pair: Pair, seed: int) -> bool:
        """Whether a replay on the very same input is the same run: all that decides a run is known."""
        bits = functools.partial(np.random.Philox, seed)
        function = self.seen(pair)
        for world in pair.worlds():
            drawn = sources(functools.partial(function, np.array(world)), bits())
            if any(name.endswith(("urandom", "getrandom")) for name in drawn):
                return False
            for _ in range(_AGAIN):
                loss = trace(function, world, world, bits, self.files, self.scopes).loss
                if loss.bound > 0 or not loss.same_output:
                    return False
        return True

    def far(self, table: FloatArray, t: int, arm: int) -> Pair:
        """The reward of an arm in round t, or all that this round's user brings, moved as far as may be."""
        low, high = self.bounds
        if self.users is None:
            value = low if table[t, arm] - low > high - table[t, arm] else high
            return TablePair(table, t, arm, value, self.bounds)
        row = table[t].copy()
        row[: self.n_arms] = np.where(row[: self.n_arms] - low > high - row[: self.n_arms], low, high)
        if not self.users.reward_only:
            form = self.users.form
            mine = row[self.n_arms :].reshape(form.shape)
            row[self.n_arms :] = np.ravel(form.apart(mine) if t % 2 else form.even())
        return ContextPair.of_tables(self.users.form, table, t, row)

    def strategy(self) -> SearchStrategy[Pair]:
        """Pairs to search among."""
        if self.users is None:
            return tables(n_arms=self.n_arms, horizon=self.horizon, bounds=self.bounds)
        return contexts(self.users.form, self.horizon, reward_only=self.users.reward_only)


@dataclass(frozen=True)
class Share:
    """What one line of the traced code gives away.

    Attributes
    ----------
    place
        The line.
    releases
        Numbers of its releases, in the order of the run.
    cost
        The most that they could give away together.
    """

    place: Place
    releases: tuple[int, ...]
    cost: float


@dataclass(frozen=True)
class Payment:
    """What one reward pays.

    Attributes
    ----------
    round, arm
        Its place in the table.
    cost, rho
        What its change costs, inf where other actions came out.
    shares
        Lines at which it pays.
    draws
        Numbers of the draws that hide it, with their lines.
    """

    round: int
    arm: int
    cost: float
    rho: float
    shares: tuple[Share, ...]
    draws: frozenset[tuple[int, Place]] = frozenset()


@dataclass(frozen=True)
class TracingFound:
    """What tracing came to.

    Attributes
    ----------
    examined
        Pairs of runs.
    worst
        The costliest pair: a divergence, else the largest bound; None if nothing could be traced.
    pair, seed
        Of the worst: `Subject.trace(pair, seed)` makes it again.
    leads
        Places where raw data decided, strongest first.
    covered
        Those of them, as (what, place), whose answers were seen to differ without harm.
    payments
        What single rewards on the worst table pay, and at which lines.
    failure
        Why tracing stopped; empty if it did not.
    notes
        Randomness that the traced code takes from elsewhere, with its place.
    rho
        Largest cost in zero-concentrated differential privacy that was seen.
    events
        Tracked operations of one run.
    actions
        Lines on which actions come out.
    choosing
        Lines of the methods that choose arms.
    files
        Files of the traced code.
    suspects
        Pairs on which leads may show in the actions, for the black box.
    traces
        Pairs of runs that were traced in all.
    repeats
        Whether replays on the same input are known to be the same run, see `Subject.repeats`.
    """

    examined: int
    worst: Traced | None
    pair: Pair | None
    seed: int
    leads: tuple[Lead, ...]
    failure: str = ""
    payments: tuple[Payment, ...] = ()
    covered: frozenset[Key] = frozenset()
    notes: tuple[tuple[Note, Place], ...] = ()
    rho: float = 0.0
    events: int = 0
    actions: tuple[Place, ...] = ()
    files: frozenset[str] = frozenset()
    choosing: frozenset[Place] = frozenset()
    suspects: tuple[Pair, ...] = ()
    traces: int = 0
    repeats: bool = False

    def dear(self, epsilon: float) -> tuple[tuple[int, int], ...]:
        """The reward of the worst pair, as (round, arm), if it costs more than `epsilon`.

        Not if that is one of the first K rounds: on plain neighbours and on tuned ones these change anyway.
        """
        pair = self.pair
        if pair is None or self.worst is None or not exceeds(cost(self.worst), epsilon):
            return ()
        first = pair.form.n_arms if isinstance(pair, ContextPair) else pair.left.shape[1]
        return ((pair.round, pair.arm),) if pair.round >= first else ()


def cost(traced: Traced) -> float:
    """What a pair of runs costs at most; inf where the replay left the run or other actions came out."""
    return traced.loss.bound if traced.loss.same_output else math.inf


def shares(traced: Traced, delta: float = 0.0) -> tuple[Share, ...]:
    """What each line of a pair of runs gives away, see `flow.charged`, the costliest first."""
    by_place: dict[Place, tuple[list[int], float, float]] = {}
    for number, (release, (_, bound, rho)) in enumerate(
        zip(traced.here.ledger.releases, traced.loss.each.tolist(), strict=False)
    ):
        if bound > 0:
            numbers, paid, more = by_place.get(release.place, ([], 0.0, 0.0))
            by_place[release.place] = ([*numbers, number], paid + bound, more + rho)
    for place, paid in traced.flipped:
        numbers, before, _ = by_place.get(place, ([], 0.0, 0.0))
        by_place[place] = (numbers, before + paid, math.inf)
    found = [
        Share(place, tuple(numbers), flow.charged(paid, rho, delta))
        for place, (numbers, paid, rho) in by_place.items()
    ]
    return tuple(sorted(found, key=lambda share: (-share.cost, share.place.file, share.place.line)))


def _beyond_own(traced: Traced, horizon: int) -> set[Key]:
    """Leads that were asked about other raw data in more rounds than that of the user who was replaced.

    That user's own context decides its own action. With the releases of the recorded run, what other users
    are asked is the same on both inputs, to the last bit, unless raw data takes another way to them.
    """
    about: dict[Key, tuple[list[int], list[int]]] = {}
    for world, ledger in enumerate((traced.here.ledger, traced.there.ledger)):
        for decision in ledger.decided:
            about.setdefault((decision.what, decision.place), ([], []))[world].append(decision.about)
    found = set()
    for key, (left, right) in about.items():
        apart = [number for number, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]]
        each = -(-len(left) // horizon)  # of the questions on this line those of a round
        if apart and apart[-1] - apart[0] >= each:
            found.add(key)
    return found


def _bare(traced: Traced) -> bool:
    """Whether nothing random was drawn, as far as tracing sees."""
    ledgers = traced.here.ledger, traced.there.ledger
    return not any(x.releases or x.coins or x.draws or x.notes or x.compared for x in ledgers)


class _Search:
    """Traces pair after pair of one subject, and keeps what was found."""

    def __init__(
        self, subject: TracedBandit, epsilon: float, most: int = sys.maxsize, late: Callable[[], bool] = bool
    ) -> None:
        self.subject, self.epsilon = subject, epsilon
        self.traces, self._most, self._late = 0, most, late
        self.best = TracingFound(0, None, None, 0, ())
        self.leads: dict[Key, Lead] = {}
        self.notes: dict[Note, Place] = {}
        self.harmless: set[Key] = set()
        self.harmful: set[Key] = set()

    @property
    def ended(self) -> bool:
        """Whether no more pairs may be traced, by their number or because it is late."""
        if self.traces < self._most and self.traces and self._late():
            self._most = self.traces
        return self.traces >= self._most

    def trace(self, pair: Pair, seed: int) -> Traced:
        """Trace a pair and count it."""
        self.traces += 1
        return self.subject.trace(pair, seed, watch=self.traces == 1)

    def see(self, pair: Pair, seed: int) -> Traced:
        """Trace one more pair."""
        traced = self.trace(pair, seed)
        best = self.best
        if traced.here.failure:
            self.best = replace(best, failure=best.failure or traced.here.failure.said())
            return traced
        for lead in traced.leads:
            self.leads.setdefault((lead.what, lead.place), lead)
        for ledger in (traced.here.ledger, traced.there.ledger):
            found = {**ledger.left, **ledger.notes}
            self.notes |= {note: self.notes.get(note, place) for note, place in found.items()}
        paid = cost(traced)
        # Normal noise has no bound on a run's loss; what it hides is told by rho.
        if not traced.loss.same_output or (math.isinf(paid) and math.isinf(traced.loss.rho)):
            self.harmful |= traced.moved
        else:
            # A plain number is followed no further: that it moves shows something only where a release pays.
            self.harmless |= {key for key in traced.moved if key[0] != "number" or paid > 0}
        if self.subject.users and self.subject.users.joint:
            self.harmful |= _beyond_own(traced, self.subject.horizon)
        events = max(best.events, traced.here.ledger.events)
        best = replace(best, examined=best.examined + 1, rho=max(best.rho, traced.loss.rho), events=events)
        if best.worst is None or self._worse(traced, best.worst):
            best = replace(best, worst=traced, pair=pair, seed=seed)
        self.best = best
        return traced

    @staticmethod
    def _worse(traced: Traced, worst: Traced) -> bool:
        """What shows other actions without any randomness settles most, then what costs most."""
        ranks = [(cost(t), math.isinf(cost(t)) and _bare(t)) for t in (traced, worst)]
        return ranks[0] > ranks[1]

    @property
    def over(self) -> bool:
        """Whether the worst pair costs more than is claimed."""
        return self.best.worst is not None and exceeds(cost(self.best.worst), self.epsilon)

    @property
    def allowed(self) -> int:
        """Pairs of runs that may be traced in all: fewer, the longer a run is."""
        return max(_LEAST, _WORK // max(self.best.events, 1))

    def result(self) -> TracingFound:
        """All that was found."""
        return replace(
            self.best,
            leads=tuple(in_order(self.leads.values())[:_LEADS]),
            covered=frozenset(self.harmless - self.harmful),
            notes=tuple(self.notes.items()),
            actions=self.subject.actions,
            choosing=self.subject.choosing,
            files=self.subject.files | frozenset(self.subject.scopes),
            traces=self.traces,
        )


def examine(
    subject: TracedBandit,
    epsilon: float,
    pairs: Sequence[Pair],
    *,
    seed: int,
    examples: int,
    most: int = sys.maxsize,
    late: Callable[[], bool] = bool,
) -> TracingFound:
    """Trace the given pairs, then let hypothesis look for a costlier one.

    How many runs are traced follows from the number of tracked operations in one, not from the clock, as
    long as it is not `late`.

    Parameters
    ----------
    subject
        The bandit.
    epsilon
        The claim.
    pairs
        Neighbouring tables to begin with.
    seed, examples
        Of the search.
    most
        Pairs of runs that may be traced.
    late
        Asked before each pair: whether to end here.
    """
    search = _Search(subject, epsilon, most, late)
    for number, pair in enumerate(pairs):
        if search.ended or (number and search.best.examined >= max(2, search.allowed // 3)):
            break
        traced = search.see(pair, seed + number)
        if search.best.failure:
            return search.result()
        if number == 0:
            drift = _drift(subject, pair, seed, traced)
            if drift:
                search.best = replace(search.best, failure=drift)
                return search.result()
    _by_place(search)
    _searched(search, seed, examples)
    _elsewhere(search)
    suspects = () if search.ended else _suspects(subject, search, pairs, seed)
    return replace(search.result(), suspects=suspects)


def _drift(subject: TracedBandit, pair: Pair, seed: int, traced: Traced) -> str:
    """Why a traced run does not stand for a plain one; empty if it does."""
    if any(note.kind is not NoteKind.COMPILED for note in traced.here.ledger.notes):
        return ""  # draws from elsewhere differ from run to run
    try:
        output = plain_run(subject.seen(pair), pair.left, np.random.Philox(seed))
    except Exception as error:  # the user's code fails on plain input, too: the black box tells of it
        return f"the plain run fails: {type(error).__name__}"
    return (
        ""
        if same(output, traced.here.output)
        else "the traced run returns something other than the plain one"
    )


def _by_place(search: _Search) -> None:
    """Change the rewards that the worst run saw, one at a time: which of them pays how much."""
    rounds = _spread(search.subject.horizon, min(_MOST_PLACES, max(2, search.allowed // 3)))
    search.best = replace(search.best, payments=tuple(_payments(search, rounds)))


def _payments(search: _Search, rounds: Sequence[int]) -> Iterator[Payment]:
    """What the rewards pay that the worst run saw in these rounds."""
    best, subject = search.best, search.subject
    if best.pair is None or best.worst is None:
        return
    table, seed = best.pair.left, best.seed
    try:
        actions = np.asarray(best.worst.here.output).astype(np.int64).ravel()[: subject.horizon]
    except (TypeError, ValueError):
        return
    if subject.users and subject.users.joint:  # any arm stands for the one that is not seen
        actions = np.insert(actions, best.pair.round, 0)
    for t in rounds:
        arm = int(actions[t]) if t < len(actions) else -1
        if search.ended:
            return
        if not 0 <= arm < subject.n_arms:
            continue
        traced = search.see(subject.far(table, t, arm), seed)
        if not traced.here.failure:
            rho = traced.loss.rho if traced.loss.same_output else math.inf
            yield Payment(t, arm, cost(traced), rho, shares(traced), _hiding(traced))


def _hiding(traced: Traced) -> frozenset[tuple[int, Place]]:
    """The draws that hide what differs between two runs, with their lines."""
    found: set[tuple[int, Place]] = set()
    for a, b in zip(traced.here.ledger.releases, traced.there.ledger.releases, strict=False):
        if isinstance(a, Release) and isinstance(b, Release) and a.exact.shape == b.exact.shape:
            found |= {(draw, a.place) for draw in a.draws[a.exact != b.exact].tolist()}
    return frozenset(found)


def _elsewhere(search: _Search) -> None:
    """Change the rewards that were left out, too, until one costs too much: one in many may count twice."""
    paid = {payment.round for payment in search.best.payments}
    rounds = [t for t in range(search.subject.horizon) if t not in paid]
    left = min(_MOST_PLACES, search.allowed - search.best.examined, len(rounds))
    if left <= 0 or search.over:
        return
    some = [rounds[i] for i in np.linspace(0, len(rounds) - 1, left).astype(int).tolist()]
    for _ in _payments(search, some):
        if search.over:
            return


def _suspects(subject: TracedBandit, search: _Search, pairs: Sequence[Pair], seed: int) -> tuple[Pair, ...]:
    """Where lines are named: first rewards of arms that other actions follow from, or that pay nothing.

    After them, those that move to the middle of the bounds if other actions follow from that.
    """
    if not search.leads or subject.users:
        return ()
    low, high = subject.bounds
    middle = (low + high) / 2
    arms = range(min(subject.n_arms, _ARMS))
    found: list[tuple[bool, TablePair]] = []
    halfway: list[TablePair] = []
    left = max(_LEAST, search.allowed // 3)
    for table in _plain_tables(subject, pairs):
        if search.ended:
            break
        first = search.trace(
            TablePair(table, 0, 0, high if table[0, 0] < high else low, subject.bounds), seed
        )
        actions = [] if first.here.failure else np.ravel(first.here.output).tolist()
        for arm in (a for a in arms if a in actions):
            t = actions.index(arm)
            pair = TablePair(table, t, arm, high if table[t, arm] < high else low, subject.bounds)
            paid = cost(search.trace(pair, seed)) if left > 0 else math.nan
            left -= 1
            if math.isinf(paid) or paid == 0:
                found.append((paid == 0, pair))
        if table.min() == table.max() != middle and actions and actions[0] in range(subject.n_arms):
            halfway.append(TablePair(table, 0, int(actions[0]), middle, subject.bounds))
    between = []
    # A value between the bounds may mean something else than more or less: no answer, a missing one.
    for pair in halfway[: max(left, 0)]:
        traced = search.trace(pair, seed)
        if math.isinf(cost(traced)):
            search.harmful |= traced.moved
            between.append(pair)
    return (*(pair for _, pair in sorted(found, key=lambda row: row[0])[:_SUSPECTS]), *between)


def _plain_tables(subject: TracedBandit, pairs: Sequence[Pair]) -> list[FloatArray]:
    """The tables of the given pairs, each once; and those on which one arm pays between low and high."""
    low, high = subject.bounds
    tables = {pair.left.tobytes(): pair.left for pair in pairs}
    for arm in range(min(subject.n_arms, _ARMS)):
        table = np.full((subject.horizon, subject.n_arms), low)
        table[:, arm] = (low + high) / 2
        tables.setdefault(table.tobytes(), table)
    return list(tables.values())


def _spread(horizon: int, most: int) -> list[int]:
    """At most `most` rounds, dense at the start, over the whole horizon."""
    dense = list(range(min(8, most // 6 + 1, horizon)))
    wide = np.unique(np.geomspace(1, horizon, max(most // 2, 1)).astype(int) - 1).tolist() if horizon else []
    even = np.linspace(0, max(horizon - 1, 0), max(most // 3, 2)).astype(int).tolist() if horizon else []
    found = sorted({*dense, *wide, *even})
    if len(found) <= most:
        return found
    return [found[i] for i in np.linspace(0, len(found) - 1, most).astype(int).tolist()]


def _searched(search: _Search, seed: int, examples: int) -> None:
    """hypothesis looks for a cost above epsilon; the pair that shows one is shrunk."""
    from hypothesis import find
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

    subject = search.subject
    most = min(examples, max(0, search.allowed - search.best.examined))
    if not most or search.over:
        return
    left = most + min(_SHRINKS, max(1, search.allowed // 3))

    def costs_too_much(drawn: tuple[Pair, int]) -> bool:
        nonlocal left
        if left <= 0 or search.ended:
            return False
        left -= 1
        return exceeds(cost(search.see(*drawn)), search.epsilon)

    drawn = st.tuples(subject.strategy(), tosses.below(64))
    try:
        with leaving_nothing():
            pair, own = find(drawn, costs_too_much, settings=searching(most), random=random.Random(seed))
    except Exception as error:  # NoSuchExample, or Flaky when the number of runs ends amid the shrinking
        if not isinstance(error, NoSuchExample) and type(error).__module__.split(".")[0] != "hypothesis":
            raise
        return
    smallest = search.trace(pair, own)
    if exceeds(cost(smallest), search.epsilon):
        search.best = replace(search.best, worst=smallest, pair=pair, seed=own)


def without(found: TracingFound, other: Traced, epsilons: tuple[float, float]) -> TracingFound:
    """With a note of each line whose noise is the same where the code is made for another epsilon.

    `other` is the worst pair of runs of the code made for the second of the two epsilons.
    """
    assert found.worst is not None
    here, there = (_noise_of(traced) for traced in (found.worst, other))
    same = [place for place, seen in here.items() if there.get(place) == seen]
    notes = tuple(
        (
            Note(
                NoteKind.FIXED,
                f"{FIXED}: what is released here costs {digits(here[place][0])} with noise of the same "
                f"scale, {digits(here[place][1][0])}, made for epsilon {epsilons[0]:g} and for "
                f"{epsilons[1]:g}",
            ),
            place,
        )
        for place in same
    )
    return replace(found, notes=(*found.notes, *notes))


def _noise_of(traced: Traced) -> dict[Place, tuple[float, tuple[float, ...]]]:
    """What one release of each line costs at most, and the scales of its noise; of lines that cost."""
    costs: dict[Place, float] = {}
    scales: dict[Place, set[float]] = {}
    for release, row in zip(traced.here.ledger.releases, traced.loss.each.tolist(), strict=False):
        if isinstance(release, Release):
            costs[release.place] = max(costs.get(release.place, 0.0), float(f"{row[1]:.9g}"))
            spread = {float(f"{one:.9g}") for one in release.law.spread.tolist()}
            scales[release.place] = scales.get(release.place, set()) | spread
    return {place: (paid, tuple(sorted(scales[place]))) for place, paid in costs.items() if paid > 0}


# ---------------------------------------------------------------- the check


def _attained(found: TracingFound) -> bool:
    """Whether the cost of a pair of runs is one that its reports attain: it is no bound that may be loose.

    Reports are the first noisy values of a reward. Where the function that adds the noise, or one called
    `report`, makes something else of them before it returns, they are not what leaves it. Where a run does
    not repeat, something unseen decides it.
    """
    worst = found.worst
    if worst is None or worst.loss.divergence or not worst.loss.same_output or worst.flipped:
        return False
    ledger, inside = worst.here.ledger, _reporting(found.files, found.actions)
    unseen = [note for note in ledger.notes if note.kind in (NoteKind.UNFOLLOWED_DRAWS, NoteKind.COMPILED)]
    if unseen or not found.repeats:
        return False
    for release, row in zip(ledger.releases, worst.loss.each.tolist(), strict=False):
        if row[1] <= 0 or not isinstance(release, Release):
            continue
        user, maker = inside.get(release.at, ""), inside.get(release.place, "")
        changed = user and (user == maker or user.startswith("report:"))
        if changed or laws.family(release.law.kind) in ("two_sided_gamma", "two_sided_polya"):
            return False
    # Other randomness may go into what is reported, and a report then hides more than its noise alone.
    if any(isinstance(one, Release) and one.pure and one.at not in found.choosing for one in ledger.releases):
        return False
    coins = [coin for coin in ledger.coins if coin.place not in found.choosing]
    return len(coins) <= sum(isinstance(release, Chosen) for release in ledger.releases)


def _reporting(files: frozenset[str], actions: tuple[Place, ...]) -> dict[Place, str]:
    """By line the function that it belongs to, if that returns a value; not those that return actions."""
    found: dict[Place, str] = {}
    for file in files:
        try:
            nodes = list(ast.walk(ast.parse("".join(linecache.getlines(file)))))
        except SyntaxError:
            continue
        for node in nodes:  # what is inside comes after what is around it
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{node.name}:{node.lineno}" if _returns(node) else ""
                found |= {Place(file, line): name for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    choosing = {found.get(place, "") for place in actions}
    return {place: name for place, name in found.items() if name and name not in choosing}


def _returns(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function returns something."""
    return any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function))


def _shared(found: TracingFound) -> list[Lead]:
    """Lines at which one draw hides rewards of several rounds."""
    rounds: dict[tuple[int, Place], set[int]] = {}
    for payment in found.payments:
        for drawn in payment.draws:
            rounds.setdefault(drawn, set()).add(payment.round)
    places = {place for (_, place), paid in rounds.items() if len(paid) > 1}
    return [Lead("shared", place) for place in sorted(places, key=lambda place: (place.file, place.line))]


def check(
    found: TracingFound, epsilon: float, *, name: str = "tracing", local: bool = False, delta: float = 0.0
) -> Check:
    """What tracing says of a claim about actions, or in the local model about the report of each reward."""
    worst = found.worst
    if local:
        found = replace(found, leads=(*_shared(found), *found.leads))
    data = OF_USERS if isinstance(found.pair, ContextPair) else DATA
    statistics: JsonDict = {
        "epsilon": epsilon,
        **({"delta": delta} if delta > 0 else {}),
        "examined": found.examined,
        "failure": found.failure,
        "releases": 0,
        "coins": {},
        "draws": 0,
        "max_cost": 0.0,
        "loss": 0.0,
        "rho": plain(found.rho),
        "divergence": None,
        "same_output": True,
        "leads": [
            {**lead_as_dict(lead, data), "open": (lead.what, lead.place) not in found.covered}
            for lead in found.leads
        ],
        "notes": [
            {"kind": str(note.kind), "what": note.words, "file": at.file, "line": at.line}
            for note, at in found.notes
        ],
        "attribution": [
            [one.round, one.arm, plain(flow.charged(one.cost, one.rho, delta))] for one in found.payments
        ],
        "shares": [],
        "spent": [],
        "flow": [],
        "excerpts": [],
        "pair": found.pair.as_dict() if found.pair is not None else None,
        "seed": found.seed,
    }
    if worst is not None:
        statistics |= {
            "releases": len(worst.here.ledger.releases),
            "coins": dict(worst.coins),
            "draws": worst.here.ledger.draws,
            "max_cost": plain(worst.loss.bound),
            "loss": plain(worst.loss.total),
            "divergence": worst.loss.divergence.as_dict() if worst.loss.divergence else None,
            "same_output": worst.loss.same_output,
            "shares": [
                {
                    "file": share.place.file,
                    "line": share.place.line,
                    "releases": len(share.releases),
                    "cost": plain(share.cost),
                }
                for share in shares(worst, delta)[:_LEADS]
            ],
            "spent": [[n, plain(paid)] for n, paid in flow.spent(worst.loss.each[:, 1:], delta)],
            **_way(found, worst, data, delta),
        }
    if local:
        statistics["attained"] = _attained(found)
    return Check.of(name, "tracing", statistics)


def _way(found: TracingFound, worst: Traced, data: str, delta: float) -> JsonDict:
    """The way from reward to release to action, and the lines of source that show it."""
    leads = [(lead, (lead.what, lead.place) not in found.covered) for lead in found.leads]
    costs = {share.place: share.cost for share in shares(worst, delta)}
    ended = worst.loss.divergence
    steps = flow.steps(worst.here.ledger, costs, leads, found.actions, found.files, ended, data)
    return {
        "flow": [step.as_dict() for step in flow.in_order(steps)],
        "excerpts": [excerpt.as_dict() for excerpt in flow.excerpts(steps)],
    }


def lead_as_dict(lead: Lead, data: str = DATA) -> JsonDict:
    """A lead as it stands in a check, but for whether it is open."""
    return {
        "what": lead.what,
        "words": words_of(lead.what, data),
        "file": lead.place.file,
        "line": lead.place.line,
        "source": linecache.getline(lead.place.file, lead.place.line).strip(),
        "count": lead.count,
    }


def dearest(numbers: Json) -> float:
    """The largest cost of a check's transcripts; at the delta of the claim where all noise is normal.

    That has no bound on the loss of a run, so that its cost at delta 0 is infinite however large it is.
    """
    paid, rho, delta = float(numbers["max_cost"]), float(numbers["rho"]), float(numbers.get("delta", 0.0))
    return flow.charged(paid, rho, delta) if numbers["same_output"] else paid


@TRACING.judged_by(cost_scales)
def _judge(statistics: Json) -> JsonDict:
    """Where only actions are seen, tracing refutes nothing: it leads the black box, whose level is known.

    A cost above epsilon bounds what the actions give away. Other actions without any noise that was seen may
    still come from a source that tracing does not see, such as a file or another program. `holds` says
    whether the transcripts examined stay within the claim, with no lead open and all of the code followed.
    """
    epsilon, paid = float(statistics["epsilon"]), dearest(statistics)
    over = exceeds(paid, epsilon)
    holds = (
        statistics["examined"]
        and not statistics["failure"]
        and statistics["same_output"]
        and not any(lead["open"] for lead in statistics["leads"])
        and not _unfollowed(statistics)
        and not over
    )
    # In the local model the reports are seen: what one of them costs is exact where their law attains it.
    exact = bool(statistics.get("attained")) and statistics["examined"] and not statistics["failure"]
    local = {"detectable": epsilon} if exact and holds else {}
    # With delta a run may cost more than epsilon; what normal noise costs at delta is exact.
    exact = exact and not (float(statistics.get("delta", 0.0)) > 0 and paid == float(statistics["max_cost"]))
    return {
        "verdict": "refuted" if exact and over else "not_refuted",
        "holds": bool(holds),
        "epsilon_lower": plain(at_least(paid, epsilon)) if exact else 0.0,
        "cost_over_epsilon": plain(paid / epsilon),
        **local,
    }


def _unfollowed(statistics: Json) -> list[Json]:
    """Where rewards go where they are not followed."""
    return [note for note in statistics["notes"] if note["kind"] == NoteKind.UNFOLLOWED]


@TRACING.worded_by
def _tracing_in_words(numbers: Json, result: Json) -> str:
    if numbers["failure"]:
        return f"the code could not be traced: {numbers['failure']}"
    runs = f"{numbers['examined']} replayed runs"
    if numbers["same_output"]:
        of = " of the reports of one reward" if "attained" in numbers else ""
        paid, claimed = dearest(numbers), digits(numbers["epsilon"])
        at = "" if paid == float(numbers["max_cost"]) else f" at delta {digits(numbers['delta'])}"
        found = f"largest cost{of} {digits(paid)}{at} in {runs}, claimed {claimed}"
    elif numbers["divergence"]:
        found = f"the replay could not follow in {runs}"
    else:
        found = f"the actions differ between the two inputs in {runs}"
    if is_lead(numbers, result):
        return f"{found}; this is a lead, not proof"
    lost = [f"line {note['line']} of {note['file']}" for note in _unfollowed(numbers)]
    return f"{found}; not followed from {', '.join(lost)}, which may give away more" if lost else found


def is_lead(numbers: Json, result: Json) -> bool:
    """Whether tracing says something against the claim that refutes nothing: only the actions are seen."""
    seen = numbers["examined"] and not numbers["failure"]
    followed = {**numbers, "notes": [n for n in numbers["notes"] if n not in _unfollowed(numbers)]}
    return bool(seen and result["verdict"] != "refuted" and not _judge(followed)["holds"])
