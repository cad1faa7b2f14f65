"""Certificates for algorithms of the framework's form: the most that one replaced reward costs, on any path.

A reward is seen in one block only, and the block's releases depend on it through the block's answer. So we
change the answer by as much as one reward can, force the same releases, and add up how far the noise has to
move. All else is a function of the public state, and the public states are enumerated:

- *unfolded*: algorithms that keep nothing private between blocks. Every set of arms that may remain is tried
  in every epoch, reachable or not; of bandits that play one arm at a time, every arm after every block;
- *chains*: streams and index policies, whose trees and comparisons carry over. Every round is changed in
  turn; an arm that is pulled throughout pays for the most nodes, and a run may halt at each comparison;
- *paths*: index policies that keep private values, and whose rewards cost more on some paths than on others
  (see `branching`).

What does not behave as the form says (data in control flow, in a scale or beside the releases, shared draws,
overlapping blocks, answers that do not enter linearly) ends without a certificate; so does whatever runs code
of others (see `doors`), which may do otherwise at outputs or data that were not forced.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from verifiable_dp.core.algorithm import Algorithm, Histogram, Memory, NoMemory, Query, State
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.noise import Draw
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray, JsonDict
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.branching import branched
from verifiable_dp.evidence.doors import ours
from verifiable_dp.evidence.forced_runs import (
    AHEAD,
    CHARGED,
    VARIANTS,
    Block,
    Forced,
    NotOfFormError,
    PathsDifferError,
    Reach,
    Terms,
    equal,
    firsts,
    key_of,
    linear,
    played_block,
    possible_answers,
    slots_between,
    terms_of,
)
from verifiable_dp.evidence.premises import REPLAYED, Premise, Taken
from verifiable_dp.evidence.upper import Method, UpperBound

MOST_STATES = 20_000
MOST_ARMS = 10  # of what is unfolded
MOST_BLOCKS = 512  # of a chain
_HELD = 1 << 24  # draws of a chain that are held
_LISTED = 256  # states that a certificate lists, the costliest ones
_OFFSETS = np.array([11.3, -10.7, 0.31, -0.41, 997.1])  # of forced releases from the exact value, in scales
_RUN = np.zeros(1, np.int64)


# ---------------------------------------------------------------- unfolding


@dataclass(frozen=True)
class Batched:
    """Reports that are released together: how many there are, and the scale of their noise."""

    counts: tuple[int, ...]  # by arm
    scale: float
    change: float


@dataclass(frozen=True)
class Unfolded:
    """What unfolding came to: the cost of a reward in each public state, and the batches of reports."""

    reaches: list[Reach]
    states: int
    batches: frozenset[Batched]
    normal: bool  # noise


def unfolded(algorithm: Algorithm) -> Unfolded:
    """The cost of one replaced reward in every public state of an algorithm without private memory.

    Raises
    ------
    NotOfFormError
        If it keeps something private, has too many states, or is not of the form.
    """
    if algorithm.n_arms > MOST_ARMS:
        raise NotOfFormError(f"algorithm: n_arms must be at most {MOST_ARMS} to unfold the states")
    state: State = algorithm.start(_RUN)
    top, examined = np.full(1, -np.inf), 0
    reaches: dict[Terms, Reach] = {}
    batches: set[Batched] = set()
    normal: set[bool] = set()
    while True:
        query = algorithm.query(state)
        on = query.rounds > 0
        state, query, top = state.take(on), query.take(on), top[on]
        if not len(top):
            if len(normal) > 1:
                raise NotOfFormError("algorithm: its noise is neither all Laplace nor all normal")
            return Unfolded(list(reaches.values()), examined, frozenset(batches), True in normal)
        examined += len(top)
        if examined > MOST_STATES:
            raise NotOfFormError(f"algorithm: it has more than {MOST_STATES} public states")
        lanes = _lanes(query)
        block = _lane_block(algorithm, state, query, lanes)
        if block.scales.size:
            normal.add(block.normal)
        if state.released:
            _indifferent(algorithm, state, query, lanes, block)
        cost, row, kind = block.cost, lanes[0], lanes[2] % len(VARIANTS)
        place = (row * query.active.shape[1] + lanes[1]) * (1 + lanes[2].max() // len(VARIANTS))
        size = np.ones(len(row)) if type(query.ask) is Histogram else VARIANTS[kind, 2]
        linear(cost, size, place + lanes[2] // len(VARIANTS))
        full = kind < CHARGED
        for lane in _distinct(row, cost, full):
            terms = terms_of(block.changes[lane], block.scales[lane])
            codes = query.take(row[[lane]]).codes().item()
            reaches.setdefault(
                terms, Reach(f"block at round {int(state.t[row[lane]])}, arms {codes:b}", terms)
            )
        batches |= _batches(block, row, full)
        first, last = slots_between(block.slots, row, len(top))
        if not np.all(first > top):
            raise NotOfFormError("algorithm: a draw is used twice in a run")
        state, top = _children(state, query, block.after, row, np.maximum(top, last))


Lanes = tuple[IntArray, IntArray, IntArray]  # row, arm and variant


def _lanes(query: Query) -> Lanes:
    """Row, arm and variant of each pair of inputs: every place of a block counts once for its arm."""
    bins = query.ask.size if type(query.ask) is Histogram else 1
    row, arm = np.nonzero(query.pulls())
    variants = np.arange(len(VARIANTS) * bins)
    return np.repeat(row, len(variants)), np.repeat(arm, len(variants)), np.tile(variants, len(row))


def _lane_block(algorithm: Algorithm, state: State, query: Query, lanes: Lanes) -> Block:
    row, arm, variant = lanes
    run = np.arange(len(row))  # every pair of inputs is a run of its own, with draws of its own
    state, query = replace(state.take(row), run=run), query.take(row)
    memory: Memory = algorithm.private(run)
    if not isinstance(memory, NoMemory):
        raise NotOfFormError("algorithm: it keeps private values between blocks")

    def offset(draw: Draw) -> FloatArray:
        columns = np.arange(draw.value.shape[1])
        return np.asarray(_OFFSETS[(arm[:, None] + variant[:, None] + columns) % len(_OFFSETS)])

    answers = possible_answers(algorithm, query, arm, variant, np.ones(len(row), bool))
    block = played_block(algorithm, state, (memory, memory), query, answers, Forced(state.run, offset))
    if block.memories != (memory, memory) or block.compares:
        raise NotOfFormError("algorithm: it keeps private values between blocks")
    return block


def _indifferent(
    algorithm: Algorithm,
    state: State,
    query: Query,
    lanes: Lanes,
    block: Block,
) -> None:
    """Refuse a block that depends on released values other than through the arm that they chose."""
    other = replace(state, **{name: AHEAD - getattr(state, name) for name in state.released})
    if not equal(algorithm.query(other), query):
        raise NotOfFormError("algorithm: released values determine how long an arm is played")
    again = _lane_block(algorithm, other, query, lanes)
    if not (equal(again.scales, block.scales) and equal(again.slots, block.slots)):
        raise NotOfFormError("algorithm: a noise scale depends on released values")


def _distinct(row: IntArray, cost: FloatArray, full: BoolArray) -> Iterable[int]:
    """Of each state the lane that costs most."""
    order = np.lexsort((-cost, ~full, row))
    found: list[int] = order[firsts(row[order])].tolist()
    return found


def _batches(block: Block, row: IntArray, full: BoolArray) -> set[Batched]:
    if block.counts is None:
        return set()
    moved = (block.changes > 0) & full[:, None]
    found = set()
    for lane in np.flatnonzero(moved.any(axis=1)).tolist():
        at = int(np.argmax(block.changes[lane]))
        scale, change = float(block.scales[lane, at]), float(block.changes[lane, at])
        found.add(Batched(tuple(block.counts[lane].tolist()), scale, change))
    return found


def _children(
    state: State, query: Query, after: State, row: IntArray, top: FloatArray
) -> tuple[State, FloatArray]:
    """The next public states: all that were seen, and with them every set of arms that may remain.

    States that differ in the round alone are told apart by the first and the last one only. Where released
    values choose one arm, they do not tell states apart, and every arm is tried.
    """
    seen, largest = _merged(after, top[row], ("t", *state.released))
    active = vars(after).get("active")
    if active is None:
        return seen, largest
    first = firsts(row)
    first = first[query.complete[row[first]]]
    if not len(first):
        return seen, largest
    open_, tops = _merged(after.take(first), top[row[first]], ("t", "active", *state.released))
    kept = (active[first] | vars(state)["active"][row[first]]).any(axis=0)
    sets = [s for number in range(1, 1 << len(kept)) if not ((s := _set(number, len(kept))) & ~kept).any()]
    if state.released:
        sets = list(np.eye(len(kept), dtype=bool))
    index = np.repeat(np.arange(len(tops)), len(sets))
    remaining = np.tile(np.array(sets), (len(tops), 1))
    more = replace(open_.take(index), active=remaining)  # type: ignore[call-arg]  # `after` has it
    both = type(seen).join([seen, more], np.arange(len(largest) + len(index)))
    return _merged(both, np.concatenate([largest, tops[index]]), ("t", *state.released))


def _set(number: int, arms: int) -> BoolArray:
    return np.asarray(number >> np.arange(arms) & 1, dtype=bool)


def _merged(state: State, top: FloatArray, free: tuple[str, ...]) -> tuple[State, FloatArray]:
    """Of states that differ in the fields `free` alone the first and the last round, with the largest top."""
    alike: dict[bytes, list[int]] = {}
    for number in range(len(top)):
        alike.setdefault(key_of(state, number, ("run", *free)), []).append(number)
    chosen: list[int] = []
    largest: list[float] = []
    for numbers in alike.values():
        ends = sorted({min(numbers, key=state.t.__getitem__), max(numbers, key=state.t.__getitem__)})
        chosen += ends
        largest += [top[numbers].max()] * len(ends)
    return state.take(np.array(chosen)), np.array(largest)


# ---------------------------------------------------------------- chains


def chained(algorithm: Algorithm) -> tuple[list[Reach], int]:
    """The cost of one replaced reward of a stream, or of an index policy that pulls one arm throughout.

    Raises
    ------
    NotOfFormError
        If a run has more than `MOST_BLOCKS` blocks, or the algorithm is not of the form.
    """
    blocks = _length(algorithm)
    policies = algorithm.n_arms + 2 * (algorithm.n_arms > 1)
    policy, place, variant = (
        grid.ravel()
        for grid in np.meshgrid(*map(np.arange, (policies, blocks, len(VARIANTS))), indexing="ij")
    )
    run = np.arange(len(policy))
    if len(run) * blocks * (2 + algorithm.n_arms) > _HELD:
        raise NotOfFormError("algorithm: it has too many rounds and arms to unfold as a chain")
    state: State = algorithm.start(run)
    memory: Memory = algorithm.private(run)
    chain = _Chain(algorithm, policy, place, variant, (memory, memory), 0 * run, np.zeros(len(run)))
    for number in range(blocks):
        state = chain.step(number, state)
    chain.finish()
    unit = chain.cost[chain.cost > 0] / VARIANTS[variant, 2][chain.cost > 0]
    # Trees cost most where one arm is pulled throughout; of other bandits nothing says which path does.
    if state.released and len(unit) and unit.max() > unit.min() * (1 + 1e-6):
        raise PathsDifferError("algorithm: the cost of a reward depends on the path")
    return chain.reaches, blocks


def _length(algorithm: Algorithm) -> int:
    """Blocks of a run that does not halt."""
    state: State = algorithm.start(_RUN)
    memory: Memory = algorithm.private(_RUN)
    for number in range(MOST_BLOCKS + 1):
        query = algorithm.query(state)
        rounds = query.rounds.item()
        if rounds <= 0:
            return number
        if algorithm.n_arms > 1 and rounds > 1:
            raise NotOfFormError("algorithm: it keeps private values over blocks of several arms")
        forced = Forced(_RUN, lambda draw: np.zeros(draw.value.shape))
        memory, released = algorithm.release(state, memory, query, np.zeros((1, algorithm.n_arms)), forced)
        state = algorithm.decide(state, query, released)
    raise NotOfFormError(
        f"algorithm: it has more than {MOST_BLOCKS} blocks, and keeps private values between them"
    )


@dataclass
class _Chain:
    """Runs of one policy each, in which one place differs between the inputs."""

    algorithm: Algorithm
    policy: IntArray
    place: IntArray
    variant: IntArray
    memories: tuple[Memory, Memory]
    arm: IntArray
    cost: FloatArray
    compared: bool = False
    reaches: list[Reach] = field(default_factory=list)
    paid: list[Block] = field(default_factory=list)

    def offset(self, number: int, arm: IntArray) -> Callable[[Draw], FloatArray]:
        """Forced releases: the policy's arm looks best and is pulled throughout; the last policies mix."""
        near = _OFFSETS[(number + self.variant) % len(_OFFSETS)]
        mixed = (self.policy >= self.algorithm.n_arms) | (self.algorithm.n_arms == 1)
        distance = np.where(mixed, near, np.where(self.policy == arm, AHEAD, -AHEAD))
        return lambda draw: np.broadcast_to(distance[:, None], draw.value.shape)

    def step(self, number: int, state: State) -> State:
        """Play the block with this number; return the public state after it."""
        algorithm, query = self.algorithm, self.algorithm.query(state)
        arm = query.pulls().argmax(axis=1)
        self.arm = np.where(self.place == number, arm, self.arm)
        answers = possible_answers(algorithm, query, arm, self.variant, self.place == number)
        offset = self.offset(number, arm)

        def played(yes: bool) -> Block:
            return played_block(
                algorithm, state, self.memories, query, answers, Forced(state.run, offset, yes)
            )

        block = played(False)
        if block.normal:
            raise PathsDifferError("algorithm: it adds normal noise to values that it keeps between blocks")
        if block.compares:
            halted = played(True)
            if (algorithm.query(halted.after).rounds > 0).any():
                raise NotOfFormError("algorithm: a run continues after a positive comparison")
            self.close(f"the run halts in block {number + 1}", self.place <= number, halted)
        elif (block.cost > 0)[arm != self.arm].any():
            raise NotOfFormError("algorithm: a reward affects the releases of another arm")
        self.compared = self.compared or block.compares
        self.paid.append(block)
        self.cost = self.cost + block.cost
        self.memories = block.memories
        return block.after

    def finish(self) -> None:
        """Note what each place pays in runs that never halt."""
        one = self.policy < self.algorithm.n_arms  # mixed policies need not take the same path
        if not self.compared:
            lane = self.policy * (1 + self.place.max()) + self.place
            linear(self.cost[one], VARIANTS[self.variant[one], 2], lane[one])
        for policy in np.unique(self.policy).tolist():
            words = (
                f"arm {policy + 1} is pulled throughout" if policy < self.algorithm.n_arms else "arms vary"
            )
            words = words if self.algorithm.n_arms > 1 else "the run goes on to the end"
            for number in range(len(self.paid)):
                self.close(words, (self.policy == policy) & (self.place == number))

    def close(self, words: str, on: BoolArray, last: Block | None = None) -> None:
        """Note the lane among `on` that has paid most, `last` being the block that ends the run."""
        cost, blocks = (self.cost, self.paid) if last is None else (self.cost + last.cost, [*self.paid, last])
        worst = int(np.argmax(np.where(on & (self.variant < CHARGED), cost, -1)))
        changes, scales, slots = (
            np.concatenate([getattr(block, name)[worst] for block in blocks])
            for name in ("changes", "scales", "slots")
        )
        slots = slots[~np.isnan(slots)]
        if len(np.unique(slots)) < len(slots):
            raise NotOfFormError("algorithm: a draw is used twice in a run")
        self.reaches.append(Reach(f"reward {self.place[worst] + 1}; {words}", terms_of(changes, scales)))


# ---------------------------------------------------------------- the certificate


def certificate(algorithm: Algorithm, claim: PrivacyClaim, tested_by: str) -> UpperBound | None:
    """The upper bound on what an algorithm's releases tell of one reward, of a group, or of shuffled reports.

    Parameters
    ----------
    algorithm
        The whole instance.
    claim
        Whose delta, observer and relation the bound is made for.
    tested_by
        Name of the check that replays the algorithm.

    Returns
    -------
    UpperBound or None
        None where the algorithm is not of a form that can be certified, or is not this package's own code.
    """
    if not ours(algorithm):
        return None
    try:
        with np.errstate(all="ignore"):
            return _certified(algorithm, claim, tested_by)
    except NotOfFormError:
        return None


def _certified(algorithm: Algorithm, claim: PrivacyClaim, tested_by: str) -> UpperBound:
    replayed = tuple(Premise(taken, tested_by=tested_by) for taken in REPLAYED)
    premises = (*replayed, Premise(Taken.IDEAL_NOISE, {"noise": "Laplace"}))
    if claim.observe == "shuffled":
        return _shuffled(algorithm, claim, (*premises, Premise(Taken.SHUFFLED)))
    method, normal = Method.STATES, False
    if not isinstance(algorithm.private(_RUN), NoMemory):
        try:
            (reaches, states), method = chained(algorithm), Method.ROUNDS
        except PathsDifferError:
            reaches, states, normal = branched(algorithm)
    else:
        seen = unfolded(algorithm)
        reaches, states, normal = seen.reaches, seen.states, seen.normal
    if normal and (claim.delta == 0 or claim.relation.size > 1):
        raise NotOfFormError("algorithm: normal noise needs a delta above 0, and is not supported for groups")
    listed = sorted({reach.terms: reach for reach in reaches}.values(), key=lambda reach: -reach.cost)
    found: JsonDict = {
        "form": "normal" if normal else "sums",
        "states": [
            {"state": reach.state, "terms": [list(term) for term in reach.terms]}
            for reach in listed[:_LISTED]
        ],
        "cheaper": max(0, len(listed) - _LISTED),
    }
    if claim.relation.size > 1:
        found = {"form": "group", "size": claim.relation.size, "of": found}
    if normal:
        premises = (*replayed, Premise(Taken.IDEAL_NOISE, {"noise": "normal"}))
        return UpperBound.of(found, method=method, premises=premises, paths=states, delta=claim.delta)
    return UpperBound.of(found, method=method, premises=premises, paths=states)


def _shuffled(algorithm: Algorithm, claim: PrivacyClaim, premises: tuple[Premise, ...]) -> UpperBound:
    """By the reduction to clones, of every batch that can come about."""
    seen = unfolded(algorithm)
    if not seen.batches or claim.relation.size > 1:
        raise NotOfFormError("algorithm: it has no batches of reports")
    least: dict[float, int] = {}  # more reports of the same kind hide better
    for batch in seen.batches:
        counts = np.array([batch.counts])
        # Without a shuffler's own word, only reports of the same arm hide each other.
        crowd = (
            algorithm.crowd(counts).item() if hasattr(algorithm, "crowd") else min(filter(None, batch.counts))
        )
        local = batch.change / batch.scale if batch.scale > 0 else math.inf
        least[local] = min(crowd, least.get(local, crowd))
    found = {"form": "clones", "batches": [[crowd, plain(local)] for local, crowd in sorted(least.items())]}
    return UpperBound.of(found, method=Method.CLONES, premises=premises, paths=seen.states, delta=claim.delta)
