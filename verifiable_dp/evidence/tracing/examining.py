"""The search for the pair of traced runs that costs most, and for what leaks where."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.core import tosses
from verifiable_dp.core.neighbours import ContextPair, Pair, TablePair
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.evidence.alignment.replay import exceeds
from verifiable_dp.evidence.alignment.searching import leaving_nothing, searching
from verifiable_dp.evidence.tracing import flow
from verifiable_dp.evidence.tracing.foreign import plain_run
from verifiable_dp.evidence.tracing.ledger import Lead, Note, NoteKind, Place, Release, in_order, same
from verifiable_dp.evidence.tracing.subjects import TracedBandit
from verifiable_dp.evidence.tracing.trace import Traced

_MOST_PLACES = 48  # rewards of one table that are changed in turn


MOST_LEADS = 12


_WORK = 150_000  # tracked operations of the recorded runs of one examination


_LEAST, _SHRINKS = 6, 40


_SUSPECTS, _ARMS = 6, 4  # pairs that lead the black box, and arms that are looked at for them


Key = tuple[str, Place]


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
            leads=tuple(in_order(self.leads.values())[:MOST_LEADS]),
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
        "" if same(output, traced.here.output) else "the traced run and the plain run return different values"
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
