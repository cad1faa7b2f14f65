"""Algorithms whose releases are only compared, unfolded on one input into the public paths that they take.

Where `Algorithm.margin` says that the next public state is a function of which arms fall out, a run on a
fixed input walks down a tree: at each node every active arm has a sum and a scale of noise, and the arms
whose noisy sum lies more than the margin below the largest one are removed. The tree is read off the
algorithm's own definition. It is what the exact law is computed on, and what makes ten million runs a
matter of a second: a compiled walk with the draws of `noise.Seeded`, addressed alike, so that it takes the
same decisions as `algorithm.play`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from verifiable_dp.core import philox
from verifiable_dp.core.algorithm import Algorithm, Batch, Data, Memory, Query, State
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.noise import Draw, key_of
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import BoolArray, FloatArray, Given, InputError, IntArray, WordArray

MOST_ARMS = 10
_RUN = np.zeros(1, np.int64)
_TRIALS = 8  # random releases on which a node must agree with the algorithm's `decide`
_NO_CHILD = -1
_ADDED = np.random.Generator(np.random.Philox(1)).uniform(0.5, 1.5, (3, MOST_ARMS))
_ADDED[0] = 0.0


class UnsupportedError(InputError):
    """The algorithm does more with its releases than to compare them with a margin."""


@dataclass(frozen=True)
class Node:
    """A place in the tree: the blocks played so far, the last of which ends in a comparison or in the end.

    Attributes
    ----------
    codes
        Code of the active set of each block so far: the public path (see `Outcome.actions`).
    values, scales : (K,) float
        Exact sums and scales of their noise; NaN for arms that take no part.
    counts : (K,) int
        How many reports of that scale are added up; 0 for a sum with one Laplace draw.
    slots : (K,) int
        Addresses of the draws: equal slots share one draw.
    active : (K,) bool
        Arms that take part.
    margin
        Arms further than this below the largest release are removed.
    """

    codes: tuple[int, ...]
    values: FloatArray
    scales: FloatArray
    counts: IntArray
    slots: IntArray
    active: BoolArray
    margin: float

    @property
    def leaf(self) -> bool:
        """Whether the run is over."""
        return not self.active.any()


class _Probe:
    """Writes down what a mechanism asks of its source; adds known numbers in place of noise."""

    def __init__(self, added: FloatArray) -> None:
        self._added = added
        self.calls: list[Draw] = []

    def __call__(self, draw: Draw) -> FloatArray:
        if draw.hidden is not None:
            raise UnsupportedError("algorithm: its hidden noise is used for more than comparing releases")
        if draw.normal or draw.freedom:
            raise UnsupportedError("algorithm: its noise is not Laplace")
        if draw.where.any():
            self.calls.append(draw)
        if draw.value.shape != (1, len(self._added)):
            raise UnsupportedError("algorithm: it does not release exactly one number for each arm")
        return np.where(draw.where, draw.value + self._added, np.nan)


class Machine:
    """The tree of one algorithm on one input; nodes are made when they are first needed.

    Parameters
    ----------
    algorithm
        With at most `MOST_ARMS` arms.
    data
        What answers its queries, the same for every run.

    Raises
    ------
    UnsupportedError
        If the algorithm states no margin, hides noise, or decides on more than the margin; also when a
        node is made.
    """

    def __init__(self, algorithm: Algorithm, data: Data) -> None:
        if algorithm.n_arms > MOST_ARMS:
            raise UnsupportedError(f"algorithm: n_arms must be at most {MOST_ARMS}, got {algorithm.n_arms}")
        self.algorithm, self.data = algorithm, data
        self.nodes: list[Node] = []
        self._states: list[tuple[State, Memory, Query]] = []
        self._children: dict[tuple[int, int], int] = {}
        self._table: _Table | None = None
        self._settle(algorithm.start(_RUN), algorithm.private(_RUN), ())

    def child(self, number: int, removed: int) -> int:
        """Number of the node that follows when the arms in the bit set `removed` fall out."""
        key = (number, removed)
        if key not in self._children:
            state, memory, query = self._states[number]
            after = self._decided(self.nodes[number], state, query, removed)
            self._children[key] = self._settle(after, memory, self.nodes[number].codes)
        return self._children[key]

    def query(self, number: int) -> Query:
        """The block that ends in node `number`, one row."""
        return self._states[number][2]

    def _settle(self, state: Own, memory: Own, codes: tuple[int, ...]) -> int:
        """Play blocks that release nothing; make a node of the first one that does, or of the end."""
        algorithm = self.algorithm
        while True:
            query = algorithm.query(state)
            if query.rounds[0] <= 0:
                return self._add(_leaf(codes, algorithm.n_arms), (state, memory, query))
            codes = (*codes, int(query.codes()[0]))
            answer = self.data.answer(query, _RUN)
            after, probe, released, factor = self._released(state, memory, query, answer)
            if probe.calls:
                node = self._node(state, codes, probe, released, factor)
                return self._add(node, (state, after, query))
            memory, state = after, algorithm.decide(state, query, released)

    def _released(
        self, state: Own, memory: Own, query: Query, answer: FloatArray
    ) -> tuple[Memory, _Probe, FloatArray, FloatArray]:
        """Memory, what was asked for, the release without noise (1, K), and what it multiplies noise by."""
        seen = []
        for added in _ADDED[:, : self.algorithm.n_arms]:
            probe = _Probe(added)
            after, released = self.algorithm.release(state, memory, query, answer, probe)
            seen.append((after, probe, released))
            if released.shape != (1, self.algorithm.n_arms):
                raise UnsupportedError("algorithm: it does not publish exactly one number for each arm")
            if not probe.calls:
                return after, probe, released, np.ones(self.algorithm.n_arms)
        after, probe, released = seen[0]
        added = _ADDED[1:, : self.algorithm.n_arms]
        slopes = [(more[2] - released) / step for more, step in zip(seen[1:], added, strict=True)]
        linear = len(slopes[0].shape) == 2 and np.allclose(slopes[0], slopes[1], 1e-9, 0, equal_nan=True)
        if not linear or not (slopes[0][~np.isnan(slopes[0])] > 0).all():
            raise UnsupportedError("algorithm: it changes its releases after it adds the noise")
        factor = np.where(np.abs(slopes[0][0] - 1) < 1e-9, 1.0, slopes[0][0])
        return after, probe, released, factor

    def _node(
        self, state: Own, codes: tuple[int, ...], probe: _Probe, released: FloatArray, factor: FloatArray
    ) -> Node:
        margin = self.algorithm.margin(state)
        if margin is None or len(probe.calls) != 1 or released.shape != (1, self.algorithm.n_arms):
            raise UnsupportedError("algorithm: its releases are not a comparison with a margin")
        draw = probe.calls[0]
        where, count = draw.where[0], 0 if draw.count is None else draw.count[0]
        return Node(
            codes,
            np.where(where, released[0], np.nan),
            np.where(where, draw.scale[0] * factor, np.nan),
            np.where(where, count, 0).astype(np.int64),
            np.where(where, draw.slot[0], 0).astype(np.int64),
            np.asarray(where, dtype=bool),
            float(margin[0]),
        )

    def _add(self, node: Node, state: tuple[State, Memory, Query]) -> int:
        self.nodes.append(node)
        self._states.append(state)
        return len(self.nodes) - 1

    def _decided(self, node: Node, state: Own, query: Query, removed: int) -> State:
        """The next state, which must be the same for all releases that remove these arms."""
        index = np.zeros(_TRIALS, np.int64)
        after = self.algorithm.decide(state.take(index), query.take(index), _releases(node, removed))
        if not _all_alike(after):
            raise UnsupportedError(
                "algorithm: its decisions depend on something other than which releases exceed the margin"
            )
        return after.take(index[:1])

    # ------------------------------------------------------------ runs

    def counts(self, seed: int, path: tuple[int, ...], runs: IntArray) -> dict[int, int]:
        """How many of the runs with consecutive numbers `runs` (n,) end in which leaf.

        The noise is that of `Seeded(seed, path)`.
        """
        key, found = key_of(seed, path), np.zeros(len(self.nodes), np.int64)
        first, last = int(runs[0]), int(runs[-1]) + 1
        while first < last:
            table = self._tabled()
            found = np.concatenate([found, np.zeros(len(self.nodes) - len(found), np.int64)])
            first, node, removed = _walk(key, first, last, *table.columns(), found)
            if node >= 0:
                self.child(node, removed)
                self._table = None
        return {int(leaf): int(found[leaf]) for leaf in np.flatnonzero(found)}

    def _tabled(self) -> _Table:
        if self._table is None:
            self._table = _Table.of(self.nodes, self._children, self.algorithm.n_arms)
        return self._table

    def paths(self, leaves: Mapping[int, int]) -> IntArray:
        """Codes of the blocks of these leaves, (m, s), -1 after the end; as `Outcome.actions`."""
        rows = [self.nodes[leaf].codes for leaf in leaves]
        out = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
        for number, row in enumerate(rows):
            out[number, : len(row)] = row
        return out


def _leaf(codes: tuple[int, ...], n_arms: int) -> Node:
    nothing, zero = np.full(n_arms, np.nan), np.zeros(n_arms, np.int64)
    return Node(codes, nothing, nothing, zero, zero, np.zeros(n_arms, bool), 0.0)


def _releases(node: Node, removed: int) -> FloatArray:
    """Releases (_TRIALS, K) that remove just these arms: at the edge, far from it, and at random."""
    gone = (removed >> np.arange(len(node.active)) & 1).astype(bool)
    kept = np.flatnonzero(node.active & ~gone)
    draws = np.random.Generator(np.random.Philox(removed)).random((_TRIALS, len(gone)))
    draws[0], draws[1], draws[2] = 0.0, 1.0, np.arange(len(gone)) % 2
    tight = 1e-9 * max(node.margin, 1e-300)
    below = np.where(gone, -node.margin * (1 + 2 * draws) - tight, -draws * (node.margin - tight))
    below[:, kept[0]] = 0.0  # the largest
    if len(kept) > 1:
        below[_TRIALS // 2 :, kept[0]] = below[_TRIALS // 2 :, kept[-1]]
        below[_TRIALS // 2 :, kept[-1]] = 0.0
    return np.where(node.active, below, np.nan)


def _all_alike(after: Batch) -> bool:
    """Whether all rows of a batch of states are equal."""
    for field in fields(after):
        value = getattr(after, field.name)
        if isinstance(value, Batch):
            alike = _all_alike(value)
        else:
            alike = value is None or np.array_equal(value, np.broadcast_to(value[:1], value.shape), True)
        if not alike:
            return False
    return True


def _loud(node: Node) -> int:
    """Where all uniforms, as whole multiples of 2^-53, are at least this, nothing is removed."""
    never = 1 << 53
    if node.leaf or node.counts.any():
        return never
    values, scale = node.values[node.active], float(node.scales[node.active].max())
    slack = node.margin - float(values.max() - values.min())
    if slack <= 0:
        return never
    # Noise of each arm is below slack / 2; the last part in a million is left to the exact comparison.
    chance = math.exp(-0.499999 * slack / scale) if scale > 0 else 0.0
    return min(never, math.ceil(chance * never) + 1)


@dataclass(frozen=True)
class _Table:
    """Nodes as arrays, a row each."""

    values: FloatArray
    scales: FloatArray
    counts: IntArray
    slots: IntArray
    active: BoolArray
    margins: FloatArray
    leaves: BoolArray
    loud: WordArray
    children: IntArray

    @classmethod
    def of(cls, nodes: list[Node], children: Mapping[tuple[int, int], int], n_arms: int) -> _Table:
        after = np.full((len(nodes), 1 << n_arms), _NO_CHILD, np.int64)
        for (number, removed), child in children.items():
            after[number, removed] = child

        def column(name: str) -> Given:
            return np.array([getattr(node, name) for node in nodes])

        return cls(
            column("values"),
            column("scales"),
            column("counts"),
            column("slots"),
            column("active"),
            column("margin"),
            column("leaf"),
            np.array([_loud(node) for node in nodes], np.uint64),
            after,
        )

    def columns(self) -> tuple[object, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))


@kernel
def _walk(  # type: ignore[no-untyped-def]
    key, first, last, values, scales, counts, slots, active, margins, leaves, loud, children, found
):
    """Walk runs first .. last - 1 down the tree; stop at a missing child: (run, node, removed)."""
    n_arms = values.shape[1]
    x = np.empty(n_arms)
    words = np.empty(n_arms, np.uint64)
    for run in range(first, last):
        node = 0
        while not leaves[node]:
            held = np.uint64(0xFFFFFFFFFFFFFFFF)
            w0 = w1 = w2 = w3 = np.uint64(0)
            for a in range(n_arms):
                if not active[node, a] or counts[node, a] > 0:
                    continue
                at = np.uint64(slots[node, a])
                number = at >> np.uint64(2)
                if number != held:
                    held = number
                    w0, w1, w2, w3 = philox.block(
                        key[0], key[1], number, np.uint64(run), philox.NOISE, np.uint64(0)
                    )
                which = at & np.uint64(3)
                if which == 0:
                    words[a] = w0
                elif which == 1:
                    words[a] = w1
                elif which == 2:
                    words[a] = w2
                else:
                    words[a] = w3
            removed = 0
            # Uniforms this large are noise too small to remove anything: no logarithm is needed.
            quiet = True
            for a in range(n_arms):
                if active[node, a] and words[a] >> np.uint64(11) < loud[node]:
                    quiet = False
            if not quiet:
                best = -np.inf
                for a in range(n_arms):
                    if active[node, a]:
                        if counts[node, a] > 0:
                            number, shape = np.uint64(2 * slots[node, a]), np.float64(counts[node, a])
                            above = philox.to_gamma(key[0], key[1], np.uint64(run), number, shape)
                            below = philox.to_gamma(
                                key[0], key[1], np.uint64(run), number + np.uint64(1), shape
                            )
                            x[a] = values[node, a] + scales[node, a] * (above - below)
                        else:
                            x[a] = values[node, a] + scales[node, a] * philox.to_laplace(words[a])
                        best = max(best, x[a])
                for a in range(n_arms):
                    if active[node, a] and best - x[a] > margins[node]:
                        removed |= 1 << a
            after = children[node, removed]
            if after < 0:
                return run, node, removed
            node = after
        found[node] += 1
    return last, -1, 0
