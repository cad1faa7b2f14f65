"""Robust UCB, without privacy: an index on truncated means (Bubeck, Cesa-Bianchi & Lugosi 2013)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms._index import Index, IndexState
from verifiable_dp.algorithms._robust import LINE, check_moments
from verifiable_dp.core import philox, validate
from verifiable_dp.core.algorithm import Batch, Memory, Query
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.kernels import kernel, njit
from verifiable_dp.core.mechanisms import Exact
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import Noise, key_of
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, Given, InputError, IntArray, Numbers

FIRST_BLOCK = 1024  # rewards of an arm that a compiled run draws ahead; later blocks double


def ucb(estimate: Numbers, pulls: Numbers, log_t2: Numbers, constant: float, power: float) -> Numbers:
    """Truncated mean plus constant (log t^2 / n_a)^power."""
    return estimate / pulls + constant * (log_t2 / pulls) ** power


def last_round(size: Numbers, number: Numbers, moment: float, order: float) -> Numbers:
    """Last round t with |x| <= (u i/log t^2)^(1/(1+v)) for the i-th reward of an arm."""
    return np.exp(np.minimum(moment * number / (2 * np.maximum(size**order, 1e-300)), 700.0))


_ucb = njit(inline="always")(ucb)
_last_round = njit(inline="always")(last_round)


@dataclass(frozen=True)
class Rewards(Batch):
    """Private side: all rewards so far, (n, t) each.

    Attributes
    ----------
    reward : (n, t) float
        As they came.
    arm : (n, t) int
        Whose they are.
    last : (n, t) float
        Last round in which the truncation keeps them.
    """

    reward: FloatArray
    arm: IntArray
    last: FloatArray


@dataclass(frozen=True)
class RobustUCB(Index):
    r"""Play the arm with the largest upper confidence bound of a truncated mean; t is the current round.

    .. math:: \frac1{n_a} \sum_{i \le n_a} x_i 1\{|x_i| \le B_i\}
              + 4 u^{1/(1+v)} \left(\frac{\log t^2}{n_a}\right)^{v/(1+v)},
              \qquad B_i = \left(\frac{u i}{\log t^2}\right)^{1/(1+v)}.

    Thresholds of old rewards fall as t grows, so every mean is truncated again in every round.

    Regret: at most
    :math:`\sum_a \Delta_a (\lceil 2 (8/\Delta_a)^{(1+v)/v} u^{1/v} \log T \rceil + 2 \log T)`.
    The constant 4 covers the bias, 1 + v, and the two terms of Bernstein's inequality, :math:`\sqrt 2` and
    1/3. It makes no privacy promise: every action is a function of raw rewards.

    Parameters
    ----------
    n_arms
        K >= 2.
    horizon
        T >= K.
    v, u
        E|X|^(1+v) <= u, v in (0, 1].

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Bubeck, Cesa-Bianchi & Lugosi 2013, with the threshold that Tao et al. 2022 quote; constants
    derived.
    """

    n_arms: int
    horizon: int
    v: float
    u: float
    name: ClassVar[str] = "robust-ucb"
    most_simulated: ClassVar[int | None] = 10**10

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        check_moments(self.v, self.u)

    @property
    def bounds(self) -> tuple[float, float]:
        """The real line."""
        return LINE

    @property
    def search_bounds(self) -> tuple[float, float]:
        """The largest constant reward that the moment allows, with either sign."""
        limit = self.u ** (1 / (1 + self.v))
        return (-limit, limit)

    @property
    def constant(self) -> float:
        """Factor of the bonus, 4 u^(1/(1+v))."""
        return float(4 * self.u ** (1 / (1 + self.v)))

    @property
    def power(self) -> float:
        """Exponent of the bonus, v/(1+v)."""
        return self.v / (1 + self.v)

    @property
    def moment(self) -> float:
        """u, as the truncation uses it."""
        return self.u

    def private(self, run: IntArray) -> Rewards:
        """No rewards."""
        none = np.zeros((len(run), 0))
        return Rewards(none, none.astype(np.int64), none)

    def index(self, state: IndexState) -> FloatArray:
        """Upper confidence bounds."""
        log_t2 = 2 * np.log(state.t + 1.0)[:, None]
        return np.asarray(ucb(state.estimate, state.pulls, log_t2, self.constant, self.power))

    def release(
        self, state: IndexState, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sums of the rewards that the truncation of the next round keeps, without noise."""
        rows, arm = np.arange(len(state.run)), query.active.argmax(axis=1)
        reward, pulls = answer[rows, arm], state.pulls + query.active
        with np.errstate(over="ignore"):
            last = last_round(np.abs(reward), pulls[rows, arm], self.moment, 1 + self.v)
        kept = Rewards(
            np.column_stack([memory.reward, reward]),
            np.column_stack([memory.arm, arm]),
            np.column_stack([memory.last, last]),
        )
        counted = np.where((state.t + 2.0)[:, None] <= kept.last, kept.reward, 0.0)
        sums = np.column_stack([(counted * (kept.arm == a)).sum(axis=1) for a in range(self.n_arms)])
        slot = state.t[:, None] * self.n_arms + np.arange(self.n_arms)
        return kept, Exact().release(sums, noise, state.run, slot, pulls > 0)

    def estimates(self, state: IndexState, query: Query, released: FloatArray) -> IndexState:
        """The released sums."""
        return replace(state, estimate=np.nan_to_num(released))

    def kernel(
        self, environment: Given, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Compiled loop: the same pulls as the definition, draw for draw where rewards have two values.

        Raises
        ------
        InputError
            If the environment cannot draw the rewards of one arm.
        """
        pulls = np.zeros((len(run), self.n_arms), np.int64)
        at = np.zeros((len(run), len(times), self.n_arms), np.int64)
        for i, number in enumerate(run.tolist()):
            self._play(Supply(environment, seed, number), pulls[i], at[i], times)
        return pulls, at, np.zeros((len(run), 0))

    def _play(self, supply: Supply, pulls: IntArray, at: IntArray, times: IntArray) -> None:
        """One run."""
        k = self.n_arms
        stock = np.stack([supply.more(arm, FIRST_BLOCK) for arm in range(k)])
        have = np.full(k, FIRST_BLOCK)
        sums, pending, held = np.zeros(k), np.zeros((2, k, 64)), np.zeros(k, np.int64)
        soonest, clock = np.full(k, np.inf), np.zeros(2, np.int64)
        numbers = (self.horizon, self.constant, self.power, self.moment, 1 + self.v)
        while True:
            arm = _advance(numbers, times, stock, have, (pulls, at, sums), (pending, held, soonest), clock)
            if arm < 0:
                return
            if held[arm] == pending.shape[2]:
                pending = np.concatenate([pending, np.zeros_like(pending)], axis=2)
            if pulls[arm] == have[arm]:
                if have[arm] == stock.shape[1]:
                    stock = np.concatenate([stock, np.zeros_like(stock)], axis=1)
                fresh = supply.more(arm, int(have[arm]))
                stock[arm, have[arm] : have[arm] + len(fresh)] = fresh
                have[arm] += len(fresh)


class Supply:
    """Rewards of one run, by arm and in order; they depend on (seed, run, arm) alone."""

    def __init__(self, environment: Given, seed: int, run: int) -> None:
        if not (isinstance(environment, TwoPoint) or hasattr(environment, "draw")):
            raise InputError(
                "environment must be able to draw the rewards of an arm, "
                f"got {type(environment).__name__} without draw"
            )
        self.environment, self.seed, self.run = environment, seed, run
        self._generators: dict[int, np.random.Generator] = {}
        self._drawn: dict[int, int] = {}

    def more(self, arm: int, count: int) -> FloatArray:
        """The next `count` rewards of an arm, (count,)."""
        env, first = self.environment, self._drawn.get(arm, 0)
        self._drawn[arm] = first + count
        if isinstance(env, TwoPoint):
            key = key_of(self.seed, (1,))
            slots = (np.uint64(arm) << np.uint64(SLOT_BITS)) | np.arange(
                first, first + count, dtype=np.uint64
            )
            law = float(env.probabilities[arm]), env.low, env.high
            drawn: FloatArray = _two_points(key, self.run, slots, law)
            return drawn
        if arm not in self._generators:
            sequence = np.random.SeedSequence(self.seed, spawn_key=(1, self.run, arm))
            self._generators[arm] = np.random.Generator(np.random.Philox(sequence))
        return np.asarray(env.draw(self._generators[arm], arm, count), dtype=np.float64)


@kernel
def _two_points(key, run, slots, law):  # type: ignore[no-untyped-def]
    """Rewards with these numbers, as `environments.Pulled` draws them."""
    chance, low, high = law
    out = np.empty(len(slots))
    for j in range(len(slots)):
        bits = philox.word(key[0], key[1], np.uint64(run), philox.REWARD, slots[j])
        out[j] = high if philox.to_unit(bits) < chance else low
    return out


@kernel
def _advance(numbers, times, stock, have, played, waiting, clock):  # type: ignore[no-untyped-def]
    """Play until the end, -1, or until an arm lacks rewards or room for pending ones: that arm.

    A reward that will be dropped before the horizon is pending: `pending` (2, K, room) has its last round
    and its value, `soonest` (K,) the first of those rounds. `clock`: rounds played, next time to record.
    """
    horizon, constant, power, moment, order = numbers
    pulls, at, sums = played
    pending, held, soonest = waiting
    k = len(pulls)
    t, mark = clock[0], clock[1]
    while t < horizon:
        arm = t
        if t >= k:
            log_t2 = 2 * math.log(t + 1.0)
            best = -math.inf
            for a in range(k):
                if t + 1 > soonest[a]:
                    _drop(t + 1, a, sums, pending, held, soonest)
                value = _ucb(sums[a], pulls[a], log_t2, constant, power)
                if value > best:
                    best, arm = value, a
        if pulls[arm] == have[arm] or held[arm] == pending.shape[2]:
            clock[0], clock[1] = t, mark
            return arm
        reward = stock[arm, pulls[arm]]
        pulls[arm] += 1
        last = _last_round(abs(reward), pulls[arm], moment, order)
        if last >= t + 2:
            sums[arm] += reward
            if last < horizon:
                pending[0, arm, held[arm]] = last
                pending[1, arm, held[arm]] = reward
                held[arm] += 1
                soonest[arm] = min(soonest[arm], last)
        t += 1
        while mark < len(times) and times[mark] == t:
            at[mark] = pulls
            mark += 1
    return -1


@kernel
def _drop(t, arm, sums, pending, held, soonest):  # type: ignore[no-untyped-def]
    """Take out the rewards of an arm that round t no longer keeps."""
    left = 0
    soonest[arm] = math.inf
    for j in range(held[arm]):
        last, reward = pending[0, arm, j], pending[1, arm, j]
        if last < t:
            sums[arm] -= reward
        else:
            pending[0, arm, left], pending[1, arm, left] = last, reward
            left += 1
            soonest[arm] = min(soonest[arm], last)
    held[arm] = left
