"""What one replaced reward costs on every path of a bandit that keeps private values between its blocks.

Nothing but the arm that comes next depends on releases (`State.released`). So two runs in the same public
state, with the same private values on both inputs, go on alike whatever they released before: of such runs
only the one that has paid most is followed, and every arm that may come next is tried. Costs add up over the
blocks of a path (of normal noise the squares: fully adaptive composition of Gaussian mechanisms, whose sum is
bounded on every path), and the largest sum at the end bounds the loss of a run.

An arm that comes next whichever arm looks best follows from the public state. Where it is not the same, all
arms are tried, also those that no release would choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Batch, Histogram, Memory, State
from verifiable_dp.core.noise import Draw
from verifiable_dp.core.query import Query
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray
from verifiable_dp.evidence.forced_runs import (
    AHEAD,
    CHARGED,
    VARIANTS,
    Block,
    Forced,
    NotOfFormError,
    Reach,
    equal,
    key_of,
    linear,
    played_block,
    possible_answers,
    slots_between,
    terms_of,
)

MOST_RUNS = 100_000  # some 5 CPU s


@dataclass(frozen=True)
class _Runs:
    """Runs that are followed; the arm of the changed reward is -1 where none has been changed yet."""

    state: State
    memories: tuple[Memory, Memory]
    arm: IntArray
    variant: IntArray
    cost: FloatArray
    top: FloatArray  # the largest slot of a draw

    def take(self, index: IntArray) -> _Runs:
        """The rows `index`, numbered anew."""
        state = replace(self.state.take(index), run=np.arange(len(index)))
        left, right = self.memories
        memories = left.take(index), right.take(index)
        paid = self.cost[index], self.top[index]
        return _Runs(state, memories, self.arm[index], self.variant[index], *paid)


@dataclass(frozen=True)
class _Played:
    """A block: its rows, by the runs before and after it, and what each paid."""

    before: IntArray  # of each row the run that it goes on from
    child: IntArray  # of each run after the block its row
    changes: FloatArray
    scales: FloatArray


def branched(algorithm: Algorithm) -> tuple[list[Reach], int, bool]:
    """What a replaced reward of each arm costs at most, the number of public states, and if noise is normal.

    Raises
    ------
    NotOfFormError
        If more than `MOST_RUNS` runs have to be followed, or the algorithm is not of the form.
    """
    count = len(VARIANTS)
    state: State = algorithm.start(np.arange(count))
    memory: Memory = algorithm.private(np.arange(count))
    none = np.zeros(count)
    runs = _Runs(state, (memory, memory), np.full(count, -1), np.arange(count), none, none - np.inf)
    played: list[_Played] = []
    kinds: set[bool] = set()
    states = followed = 0
    while True:
        query = algorithm.query(runs.state)
        if not (query.rounds > 0).any():
            break
        if not (query.rounds > 0).all() or type(query.ask) is Histogram:
            raise NotOfFormError(
                "the algorithm keeps private values, and its runs differ in length or release histograms"
            )
        runs, block, step = _step(algorithm, runs, query)
        kinds |= {block.normal} if block.scales.size else set()
        played.append(step)
        states += int((runs.arm < 0).sum()) // count
        followed += len(runs.arm)
        if followed > MOST_RUNS:
            raise NotOfFormError(f"the algorithm has more than {MOST_RUNS} runs, and keeps private values")
        if len(kinds) > 1:
            raise NotOfFormError("the algorithm's noise is neither all Laplace nor all normal")
    normal = True in kinds
    _alike(runs, normal)
    worst = [
        int(np.argmax(np.where((runs.arm == arm) & (runs.variant < CHARGED), runs.cost, -1.0)))
        for arm in np.unique(runs.arm[runs.arm >= 0]).tolist()
    ]
    return [_reach(int(runs.arm[lane]), lane, played) for lane in worst], states, normal


def _step(algorithm: Algorithm, runs: _Runs, query: Query) -> tuple[_Runs, Block, _Played]:
    """Play a block: every reward of it may be the changed one, and every arm that may come next is tried."""
    row, arm = np.nonzero((query.pulls() > 0) & (runs.arm < 0)[:, None])
    index = np.concatenate([np.arange(len(runs.arm)), row])
    now = np.arange(len(index)) >= len(runs.arm)
    changed = np.where(now, np.concatenate([runs.arm, arm]), runs.arm[index])
    runs, query = replace(runs.take(index), arm=changed), query.take(index)
    blocks = [_block(algorithm, runs, query, now, best) for best in range(algorithm.n_arms)]
    block = blocks[0]
    if any(block.compares for block in blocks):
        raise NotOfFormError("the algorithm keeps private values, and compares values")
    for other in blocks[1:]:
        same = all(equal(getattr(block, name), getattr(other, name)) for name in ("scales", "slots", "cost"))
        if not (same and _equal_but(block.after, other.after, runs.state.released)):
            raise NotOfFormError("algorithm: released values determine more than the next arm")
        if not all(equal(mine, its) for mine, its in zip(block.memories, other.memories, strict=True)):
            raise NotOfFormError("algorithm: private values depend on released values")
    first, last = slots_between(block.slots, np.arange(len(index)), len(index))
    if not np.all(first > runs.top):
        raise NotOfFormError("algorithm: a draw is used twice in a run")
    paid = block.cost**2 if block.normal else block.cost
    after = _Runs(
        block.after, block.memories, changed, runs.variant, runs.cost + paid, np.maximum(runs.top, last)
    )
    child, active = _next_arms([other.after for other in blocks])
    after = after.take(child)
    after = replace(after, state=replace(after.state, active=active))  # type: ignore[call-arg]
    kept = _dearest(after)
    return after.take(kept), block, _Played(index, child[kept], block.changes, block.scales)


def _block(algorithm: Algorithm, runs: _Runs, query: Query, now: BoolArray, best: int) -> Block:
    """Play a block in which the arm `best` looks best, by what is released now and what was before."""
    far = np.where(np.arange(algorithm.n_arms) == best, AHEAD, -AHEAD)
    favoured = {}
    for name in runs.state.released:
        if getattr(runs.state, name).shape != (len(runs.arm), algorithm.n_arms):
            raise NotOfFormError(f"algorithm: {name} is not one number for each arm")
        favoured[name] = np.tile(far, (len(runs.arm), 1))
    state = replace(runs.state, **favoured)
    if not favoured or not equal(algorithm.query(state), query):
        raise NotOfFormError("algorithm: released values determine more than the next arm")

    def offset(draw: Draw) -> FloatArray:
        wide = draw.value.shape
        return np.broadcast_to(far if wide[1] == algorithm.n_arms else far[best], wide)

    answers = possible_answers(algorithm, query, np.maximum(runs.arm, 0), runs.variant, now)
    return played_block(algorithm, state, runs.memories, query, answers, Forced(state.run, offset))


def _equal_but(left: State, right: State, released: Sequence[str]) -> bool:
    """Whether states are equal but for what was released and the arm that comes next."""
    names = {f.name for f in fields(left)} - {"active", *released}
    return all(equal(getattr(left, name), getattr(right, name)) for name in names)


def _next_arms(states: Sequence[State]) -> tuple[IntArray, BoolArray]:
    """The row of each run that goes on, and its next arm, (n, K): one where all agree, else every arm."""
    shown = np.stack([vars(state)["active"] for state in states])
    if not (shown.sum(axis=2) == 1).all():
        raise NotOfFormError("the algorithm keeps private values over blocks of several arms")
    agreed = (shown == shown[:1]).all(axis=(0, 2))
    number, arms = shown.shape[1:]
    row = np.repeat(np.arange(number), np.where(agreed, 1, arms))
    first = np.flatnonzero(np.diff(row, prepend=-1))
    turn = np.arange(len(row)) - np.repeat(first, np.diff(np.append(first, len(row))))
    active = np.where(agreed[row][:, None], shown[0][row], turn[:, None] == np.arange(arms))
    return row, active


def _dearest(runs: _Runs) -> IntArray:
    """Of runs that go on alike the one that has paid most."""
    best: dict[tuple[object, ...], int] = {}
    for lane in np.argsort(-runs.cost, kind="stable").tolist():
        best.setdefault((_place(runs, lane), *(_rounded(memory, lane) for memory in runs.memories)), lane)
    return np.sort(np.array(list(best.values())))


def _place(runs: _Runs, lane: int) -> tuple[bytes, int, int]:
    state = key_of(runs.state, lane, ("run", *runs.state.released))
    return state, int(runs.arm[lane]), int(runs.variant[lane])


def _rounded(memory: Memory, row: int) -> bytes:
    """Private values of a row to nine digits, which hide in which order they were added up."""
    if not isinstance(memory, Batch):
        raise NotOfFormError("the algorithm's memory is not a batch of arrays")
    parts = []
    for f in fields(memory):
        value = getattr(memory, f.name)
        if isinstance(value, Batch):
            parts.append(_rounded(value, row))
        elif value is not None and f.name != "run":
            parts.append((np.round(np.asarray(value[row], dtype=float), 9) + 0.0).tobytes())
    return b"|".join(parts)


def _alike(runs: _Runs, normal: bool) -> None:
    """Refuse answers that do not enter linearly: sums at the end that do not grow with the change."""
    sums: dict[tuple[bytes, int, int], float] = {}
    for lane in np.flatnonzero(runs.arm >= 0).tolist():
        place = _place(runs, lane)
        sums[place] = max(sums.get(place, 0.0), float(runs.cost[lane]))
    groups = {place[:2]: number for number, place in enumerate(sums)}
    cost, size = np.array(list(sums.values())), np.array([VARIANTS[place[2], 2] for place in sums])
    linear(np.sqrt(cost) if normal else cost, size, np.array([groups[place[:2]] for place in sums]))


def _reach(arm: int, lane: int, played: Sequence[_Played]) -> Reach:
    """What the run that ends in `lane` has paid, block by block."""
    changes, scales = [], []
    for block in reversed(played):
        row = block.child[lane]
        changes.append(block.changes[row])
        scales.append(block.scales[row])
        lane = int(block.before[row])
    changed = f"a reward of arm {arm + 1}, on the path on which it costs most"
    return Reach(changed, terms_of(np.concatenate(changes), np.concatenate(scales)))
