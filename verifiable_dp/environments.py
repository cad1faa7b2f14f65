"""Where rewards come from: stochastic environments, fixed tables, interactive adversaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit

from verifiable_dp import _philox, _validate
from verifiable_dp._validate import BoolArray, FloatArray, InputError, IntArray
from verifiable_dp.algorithm import Data, Query
from verifiable_dp.mechanisms.tree import SLOT_BITS
from verifiable_dp.neighbours import InteractivePair
from verifiable_dp.noise import key_of


@dataclass(frozen=True)
class TwoPoint:
    """Arms that pay `high` with probability (mean - low) / (high - low), else `low`.

    Parameters
    ----------
    means : sequence of K floats
        Mean rewards, within the bounds.
    low, high : float
        The two rewards.
    name : str
        For tables and plots.

    Raises
    ------
    InputError
        If a mean is NaN or out of bounds.
    """

    means: tuple[float, ...]
    low: float = 0.0
    high: float = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        within = _validate.bounds("bounds", (self.low, self.high))
        means = _validate.rewards("means", self.means, within, ndim=1)
        if not len(means):
            raise InputError("means must hold at least one value, got none")
        object.__setattr__(self, "means", tuple(float(m) for m in means))

    @property
    def n_arms(self) -> int:
        """K."""
        return len(self.means)

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""
        return (self.low, self.high)

    @property
    def probabilities(self) -> FloatArray:
        """Probability of the high reward by arm, (K,)."""
        return (np.array(self.means) - self.low) / (self.high - self.low)

    @property
    def gaps(self) -> FloatArray:
        """Suboptimality gaps Delta_a by arm, (K,)."""
        means = np.array(self.means)
        return np.asarray(means.max() - means)

    def data(self, seed: int, path: tuple[int, ...] = ()) -> Binomial:
        """Sums of whole blocks, one binomial draw each."""
        return Binomial(self, seed, path)

    def pulled(self, seed: int, runs: int, path: tuple[int, ...] = ()) -> Pulled:
        """Rewards pull by pull, as the kernels draw them."""
        return Pulled(self, key_of(seed, path), np.zeros((runs, self.n_arms), np.int64))


def bernoulli(means: Sequence[float], name: str = "") -> TwoPoint:
    """Bernoulli arms with the given means in [0, 1]."""
    return TwoPoint(tuple(means), 0.0, 1.0, name)


def two_point(mean: float, radius: float) -> TwoPoint:
    """One stream of rewards -R or +R with the given mean: the hard instance of Thm 3.4 of Sajed & Sheffet."""
    radius = _validate.positive("radius", radius)
    return TwoPoint((mean,), -radius, radius, f"±{radius:g} with mean {mean:g}")


def s1(setting: str, n_arms: int = 5) -> TwoPoint:
    """Settings C1 to C4 of the experiments of Sajed & Sheffet (ICML 2019), Section 5.

    Parameters
    ----------
    setting
        ``C1`` equal gaps of .05; ``C2`` linear from .75 to .25; ``C3`` convex a(i-K)^2 + c;
        ``C4`` concave a(i-1)^2 + c.
    n_arms
        K, at least 2.

    Raises
    ------
    InputError
        If the setting is unknown or K < 2.
    """
    _validate.choice("setting", setting, ("C1", "C2", "C3", "C4"))
    arms = _validate.integer("n_arms", n_arms, least=2)
    step = np.arange(arms) / (arms - 1)
    shapes = {
        "C1": np.where(step == 0, 0.75, 0.7),
        "C2": 0.75 - 0.5 * step,
        "C3": 0.25 + 0.5 * (1 - step) ** 2,
        "C4": 0.75 - 0.5 * step**2,
    }
    return bernoulli(shapes[setting].tolist(), setting)


@dataclass(frozen=True)
class Binomial:
    """Answers a block of n pulls with one binomial draw: exact in law for two-point rewards."""

    environment: TwoPoint
    seed: int
    path: tuple[int, ...] = ()
    _generator: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sequence = np.random.SeedSequence(self.seed, spawn_key=self.path)
        object.__setattr__(self, "_generator", np.random.Generator(np.random.Philox(sequence)))

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`."""
        pulls, env = query.pulls(), self.environment
        hits = self._generator.binomial(pulls, env.probabilities)
        return np.asarray(env.low * pulls + (env.high - env.low) * hits)


@njit(nogil=True, cache=True)
def _sum_pulls(key, run, first, count, threshold, low, high):  # type: ignore[no-untyped-def]
    """Sums of rewards number first .. first + count - 1 of each arm."""
    n, k = count.shape
    out = np.zeros((n, k))
    for i in range(n):
        for a in range(k):
            for number in range(first[i, a], first[i, a] + count[i, a]):
                slot = (np.uint64(a) << np.uint64(SLOT_BITS)) | np.uint64(number)
                bits = _philox.word(key[0], key[1], run[i], _philox.REWARD, slot)
                out[i, a] += high if _philox.to_unit(bits) < threshold[a] else low
    return out


@dataclass(frozen=True)
class Pulled:
    """Answers with rewards drawn pull by pull: number j of arm a in run i is a function of (a, j, i).

    Kernels draw the same rewards. It counts the pulls, so one object serves one set of runs.
    """

    environment: TwoPoint
    key: Any
    count: IntArray

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`."""
        pulls, env = query.pulls(), self.environment
        sums = _sum_pulls(self.key, run, self.count[run], pulls, env.probabilities, env.low, env.high)
        self.count[run] += pulls
        return np.asarray(sums)


@dataclass(frozen=True)
class Table:
    """Answers from a fixed reward table (T, K); each distinct query is added up once."""

    table: FloatArray
    _sums: dict[tuple[int, int, int], FloatArray] = field(default_factory=dict, repr=False)

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`."""
        if query.rounds.max() == 1:
            return np.asarray(np.where(query.active, self.table[query.start], 0.0))
        codes = query.codes()
        sums = np.empty(query.active.shape)
        left = np.ones(len(codes), bool)
        # Few public states are shared by many runs: one pass for each is faster than sorting.
        while left.any():
            first = int(left.argmax())
            same = (query.start == query.start[first]) & (query.rounds == query.rounds[first])
            same &= codes == codes[first]
            sums[same] = self._sum(query, first, codes)
            left &= ~same
        return sums

    def _sum(self, query: Query, row: int, codes: IntArray) -> FloatArray:
        start, rounds = int(query.start[row]), int(query.rounds[row])
        key = (start, rounds, int(codes[row]))
        if key not in self._sums:
            arms = np.flatnonzero(query.active[row])
            block = self.table[start : start + rounds]
            sums = np.zeros(self.table.shape[1])
            for rank, arm in enumerate(arms):
                sums[arm] = block[rank :: len(arms), arm].sum()
            self._sums[key] = sums
        return self._sums[key]


@dataclass(frozen=True)
class Interactive:
    """Answers from an adversary that sees the actions; `world` 0 or 1 decides the challenge."""

    pair: InteractivePair
    world: int
    n_arms: int
    runs: int
    _pulls: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pulls", np.zeros((self.runs, self.n_arms), np.int64))

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`; rewards are asked round by round."""
        size = query.active.sum(axis=1)
        order = np.argsort(~query.active, axis=1, kind="stable")
        rows = np.arange(len(run))
        sums = np.zeros(query.active.shape)
        for step in range(int(query.rounds.max())):
            on: BoolArray = query.rounds > step
            arm = order[rows, step % size][on]
            before = self._pulls[run[on]]
            reward = self.pair.reward(self.world, query.start[on] + step, arm, before)
            sums[rows[on], arm] += reward
            self._pulls[run[on], arm] += 1
        return sums


def data_of(world: Any, runs: int) -> Data:
    """Data for one world of a pair: a table (T, K) or (interactive pair, world, K)."""
    if isinstance(world, tuple):
        pair, which, n_arms = world
        return Interactive(pair, which, n_arms, runs)
    return Table(np.asarray(world, dtype=np.float64))
