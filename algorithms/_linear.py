"""The linear family: batches that pull a core set of the remaining actions, least squares, removal."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms._design import design, net
from verifiable_dp.algorithms._elimination import Mechanism
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Algorithm, Memory, Query, State
from verifiable_dp.core.noise import Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import BoolArray, FloatArray, Given, InputError, IntArray

Actions = tuple[tuple[float, ...], ...]


def as_actions(actions: Given) -> Actions:
    """Actions as a tuple of K tuples of d floats.

    Raises
    ------
    InputError
        If there are fewer than two, they are not vectors of one length, one is longer than 1 (in the
        Euclidean norm), all are zero, or they do not span their space.
    """
    try:
        array = np.array(actions, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("actions must be at least 2 vectors of one dimension") from None
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise InputError(f"actions must be at least 2 vectors of one dimension, got shape {array.shape}")
    longest = float(np.linalg.norm(array, axis=1).max())
    if not 0 < longest <= 1 + 1e-9:
        raise InputError(f"actions must have norms of at most 1, not all 0, got {longest:g} as the largest")
    rank, dimension = int(np.linalg.matrix_rank(array)), array.shape[1]
    if rank < dimension:
        raise InputError(f"actions must span their space, of dimension {dimension}, got rank {rank}")
    return tuple(tuple(row) for row in array.tolist())


def on_sphere(count: int, dimension: int, seed: int) -> Actions:
    """Actions that are uniform on the unit sphere, as in the experiments of Hanna et al. 2022."""
    drawn = np.random.default_rng(seed).standard_normal((count, dimension))
    # Rounded and shrunk by as much, so that no norm exceeds 1 and the numbers are short in a record.
    unit = np.round(drawn / np.linalg.norm(drawn, axis=1, keepdims=True) * (1 - 1e-6), 6)
    return tuple(tuple(row) for row in unit.tolist())


@dataclass(frozen=True)
class LinearState(State):
    """Public state of a phased elimination.

    Attributes
    ----------
    batch : (n,) int
        Number of the current batch, from 1.
    active : (n, K) bool
        Actions not eliminated.
    leader : (n,) int
        The action with the largest estimate after the last batch.
    """

    batch: IntArray
    active: BoolArray
    leader: IntArray


@dataclass(frozen=True)
class Plan:
    """What a batch does with the actions that remain.

    Attributes
    ----------
    counts : (K,) int
        Pulls of each action, 0 outside the core set.
    core : (c,) int
        The core set.
    solver : (c, d) float
        The estimate of theta is the sum over the core set of the sum of rewards times these rows.
    """

    counts: IntArray
    core: IntArray
    solver: FloatArray


@functools.lru_cache(maxsize=1 << 14)
def _weights(actions: Actions, remaining: bytes, core: bool) -> FloatArray:
    """The design of the remaining actions, (K,), 0 for the others."""
    index = np.flatnonzero(np.frombuffer(remaining, dtype=bool))
    weights = np.zeros(len(actions))
    weights[index] = design(np.array(actions)[index], core=core)
    return weights


@functools.lru_cache(maxsize=1 << 10)
def netted(actions: Actions, zeta: float) -> bytes:
    """Whether each action is in the net of them all, K booleans as bytes."""
    chosen = np.zeros(len(actions), bool)
    chosen[list(net(actions, zeta))] = True
    return chosen.tobytes()


@functools.lru_cache(maxsize=1 << 14)
def plan(actions: Actions, remaining: bytes, core: bool, size: float) -> Plan:
    """Pull each action of the core set ceil(pi(a) `size`) times; V^+ a for each of them."""
    counts = np.ceil(np.round(_weights(actions, remaining, core) * size, 6)).astype(np.int64)
    chosen = np.flatnonzero(counts)
    vectors = np.array(actions)[chosen]
    matrix = vectors.T @ (counts[chosen, None] * vectors)
    return Plan(counts, chosen, _rounded(vectors @ np.linalg.pinv(matrix, hermitian=True)))


def _rounded(solver: FloatArray) -> FloatArray:
    """To twelve digits of the largest entry: beyond, libraries differ, and would break ties of estimates."""
    largest = float(np.abs(solver).max(initial=0.0))
    if not largest:
        return solver
    unit = 2.0 ** math.ceil(math.log2(largest))
    return np.asarray(np.round(solver / unit, 12) * unit)


class PhasedElimination(Algorithm):
    """Batches of growing size, each of which removes the actions that look worse than the best one.

    Subclasses are dataclasses with `actions`, `horizon`, `beta` and `core`.
    """

    actions: Actions
    beta: float | None
    core: bool
    least_horizon: ClassVar[int] = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", as_actions(self.actions))
        validate.integer("horizon", self.horizon, least=self.least_horizon)
        validate.beta(self)
        if not isinstance(self.core, bool):
            raise InputError(f"core must be True or False, got {self.core!r}")

    @property
    @abstractmethod
    def mechanism(self) -> Mechanism:
        """Mechanism for the sum of one action in one batch."""

    @property
    @abstractmethod
    def last_batch(self) -> int:
        """Number of the last batch; then the leader plays on."""

    @abstractmethod
    def size(self, batch: int) -> float:
        """Pulls of a batch, before they are rounded up action by action."""

    @abstractmethod
    def width(self, batch: int, n_actions: int, n_core: int) -> float:
        """Half-width of the estimates of a batch with that many actions and that large a core set."""

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """K, the number of actions."""
        return len(self.actions)

    @property
    def dimension(self) -> int:
        """d."""
        return len(self.actions[0])

    @property
    def bounds(self) -> tuple[float, float]:
        """Rewards lie in [-1, 1]."""
        return (-1.0, 1.0)

    @property
    def first(self) -> BoolArray:
        """Actions of the first batch, (K,): all."""
        return np.ones(self.n_arms, bool)

    def plan(self, batch: int, active: BoolArray) -> Plan:
        """The batch number `batch` of the remaining actions `active` (K,)."""
        return plan(self.actions, active.tobytes(), self.core, self.size(batch))

    def release(
        self, state: LinearState, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sums of this batch alone, one draw for each action of the core set."""
        return memory, self.mechanism.release(answer, noise, state.run, *self.addresses(state, query))

    def addresses(self, state: LinearState, query: Query) -> tuple[IntArray, BoolArray]:
        """Slots of the noise of a batch's sums, and which of them are released, (n, K) each."""
        slot = state.batch[:, None] * self.n_arms + np.arange(self.n_arms)
        return slot, query.active & query.complete[:, None]

    def start(self, run: IntArray) -> LinearState:
        """All actions of the first batch remain; one of them leads."""
        zero = np.zeros(len(run), np.int64)
        active = np.repeat(self.first[None, :], len(run), axis=0)
        return LinearState(run, zero, zero + 1, active, zero + int(self.first.argmax()))

    def exploring(self, state: LinearState) -> BoolArray:
        """Whether another batch comes, (n,)."""
        return np.asarray((state.batch <= self.last_batch) & (state.active.sum(axis=1) > 1))

    def query(self, state: LinearState) -> Query:
        """One batch, cut at the horizon; after the last one the leader plays to the end."""
        left = self.horizon - state.t
        exploring = self.exploring(state)
        counts = (state.leader[:, None] == np.arange(self.n_arms)) * left[:, None]
        for rows, batch, active in _alike(state, exploring):
            counts[rows] = self.plan(batch, active).counts
        wanted = counts.sum(axis=1)
        complete = exploring & (wanted <= left)
        return Query(state.t, np.minimum(wanted, left), counts > 0, complete, counts=counts)

    def decide(self, state: LinearState, query: Query, released: FloatArray) -> LinearState:
        """Estimate theta from the sums (n, K) of the batch; remove actions; name the leader."""
        active, leader = state.active.copy(), state.leader.copy()
        for rows, batch, remaining in _alike(state, query.complete):
            done = self.plan(batch, remaining)
            value = self.estimates(done, released[rows])
            value[:, ~remaining] = -np.inf
            limit = 2 * self.width(batch, int(remaining.sum()), len(done.core))
            leader[rows] = value.argmax(axis=1)
            active[rows] = self.keep(value, limit)
        return replace(
            state, t=state.t + query.rounds, batch=state.batch + query.complete, active=active, leader=leader
        )

    def keep(self, value: FloatArray, limit: float) -> BoolArray:
        """Actions whose estimates (n, K) lie at most `limit` below the largest."""
        return np.asarray(value >= value.max(axis=1)[:, None] - limit)

    def estimates(self, done: Plan, sums: FloatArray) -> FloatArray:
        """Estimated mean reward of every action, (n, K), from the sums of rewards (n, K)."""
        # Added up term by term: matrix products round differently for other numbers of runs.
        theta = np.zeros((len(sums), self.dimension))
        for arm, row in zip(done.core.tolist(), done.solver, strict=True):
            theta += sums[:, arm, None] * row
        value = np.zeros(sums.shape)
        for axis, column in enumerate(np.array(self.actions).T):
            value += theta[:, axis, None] * column
        return value


def _alike(state: LinearState, where: BoolArray) -> Iterator[tuple[IntArray, int, BoolArray]]:
    """Rows of `where` in groups with one batch and one set of actions, each with these two."""
    rows = np.flatnonzero(where)
    if not len(rows):
        return
    keys = np.column_stack([state.batch[rows], np.packbits(state.active[rows], axis=1)])
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    for number, row in enumerate(rows[first].tolist()):
        yield rows[group == number], int(state.batch[row]), state.active[row]
