"""UCB1, without privacy (Auer, Cesa-Bianchi & Fischer 2002)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms._index import Index, IndexState
from verifiable_dp.core import philox, validate
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.kernels import kernel, njit
from verifiable_dp.core.mechanisms import Exact
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import Noise, key_of
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, IntArray, Numbers


def ucb(estimate: Numbers, pulls: Numbers, log_t: Numbers) -> Numbers:
    """Mean plus sqrt(2 log t / n_a)."""
    return estimate / pulls + np.sqrt(2 * log_t / pulls)


_ucb = njit(inline="always")(ucb)
BLOCK = 64  # rounds from which one binomial draw is cheaper than a draw for each reward


@dataclass(frozen=True)
class UCB1(Index):
    r"""Play the arm with the largest :math:`\bar\mu_a + \sqrt{2 \log t / n_a}`, t rounds being over.

    Regret: at most :math:`8 \sum_a \log T/\Delta_a + (1 + \pi^2/3) \sum_a \Delta_a` (Theorem 1 of Auer
    et al.). It makes no privacy promise: every action is a function of raw rewards.

    Parameters
    ----------
    n_arms
        K >= 2.
    horizon
        T >= K.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    n_arms: int
    horizon: int
    name: ClassVar[str] = "ucb1"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)

    def index(self, state: IndexState) -> FloatArray:
        """Upper confidence bounds."""
        return np.asarray(ucb(state.estimate, state.pulls, np.log(state.t.astype(np.float64))[:, None]))

    def release(
        self, state: IndexState, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """The reward, without noise."""
        slot = state.t[:, None] * self.n_arms + np.arange(self.n_arms)
        return memory, Exact().release(answer, noise, state.run, slot, query.active)

    def estimates(self, state: IndexState, query: Query, released: FloatArray) -> IndexState:
        """Add the reward."""
        return replace(state, estimate=state.estimate + np.nan_to_num(released))

    def kernel(
        self, environment: TwoPoint, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Compiled loop: the law of the definition; draw for draw the same until the first block.

        Rounds in which the leader stays ahead whatever it is paid are one block, of which only the sum
        matters: it is drawn as such. A run of T = 10^12 takes some 10^6 blocks.
        """
        rewards = (environment.probabilities, environment.low, environment.high)
        pulls, at = _kernel(key_of(seed, (1,)), run, self.horizon, rewards, times, BLOCK)
        return pulls, at, np.zeros((len(run), 0))


@kernel
def _kernel(key, runs, horizon, rewards, times, least):  # type: ignore[no-untyped-def]
    """Blocks of at least `least` rounds are one draw; in shorter ones each reward is drawn."""
    chance, low, high = rewards
    k = len(chance)
    total = np.zeros((len(runs), k), np.int64)
    at = np.zeros((len(runs), len(times), k), np.int64)
    for i in range(len(runs)):
        pulls = np.zeros(k, np.int64)
        sums = np.zeros(k)
        t, mark = 0, 0
        while t < horizon:
            arm, steps = t, 1
            if t >= k:
                arm, steps = _leader(sums, pulls, t, low)
            steps = min(steps, horizon - t)
            if mark < len(times):
                steps = min(steps, times[mark] - t)
            hits = draw_hits(key, np.uint64(runs[i]), arm, pulls[arm], steps, chance[arm], least)
            sums[arm] += low * (steps - hits) + high * hits
            pulls[arm] += steps
            t += steps
            while mark < len(times) and times[mark] == t:
                at[i, mark] = pulls
                mark += 1
        total[i] = pulls
    return total, at


@njit(inline="always")
def draw_hits(key, run, arm, pulls, steps, chance, least):  # type: ignore[no-untyped-def]
    """How many of an arm's next rewards, after so many `pulls`, are the high one."""
    base = np.uint64(arm) << np.uint64(SLOT_BITS)
    if steps >= least:
        return philox.to_binomial(key[0], key[1], run, base | np.uint64(pulls), steps, chance)
    hits = 0
    w0 = w1 = w2 = w3 = np.uint64(0)
    for j in range(pulls, pulls + steps):
        which = j & 3
        if which == 0 or j == pulls:
            number = (base | np.uint64(j)) >> np.uint64(2)
            w0, w1, w2, w3 = philox.block(key[0], key[1], number, run, philox.REWARD, np.uint64(0))
        bits = w0 if which == 0 else (w1 if which == 1 else (w2 if which == 2 else w3))
        hits += philox.to_unit(bits) < chance
    return hits


@njit
def _leader(sums, pulls, t, low):  # type: ignore[no-untyped-def]
    """The arm with the largest index, and for how many rounds from t on it leads whatever it is paid.

    The others' indices grow with log t only. The leader's falls most if every reward is the low one, and its
    fall is convex in the number of rounds, as the others' rise is concave: the rates of now bound both. A
    twentieth of the lead is kept for rounding.
    """
    k, log_t = len(pulls), math.log(float(t))
    arm, best, cap, fewest = 0, -math.inf, -math.inf, pulls[0]
    for a in range(k):
        value = _ucb(sums[a], pulls[a], log_t)
        if value > best:
            arm, best, cap = a, value, best
        else:
            cap = max(cap, value)
        fewest = min(fewest, pulls[a])
    n = pulls[arm]
    mean = sums[arm] / n
    # By how much the lead shrinks a round, at most.
    shrinks = (mean - low + (best - mean) / 2) / n + math.sqrt(0.5 / (log_t * fewest)) / t
    return arm, max(1, np.int64(min(0.95 * (best - cap) / shrinks, 4.0 * n)))
