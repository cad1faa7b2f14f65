"""DP Robust UCB: an index on truncated sums, one adaptive tree per arm."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms._index import TreeIndex, TreeState
from verifiable_dp.algorithms._robust import LINE, check_moments, factor_of
from verifiable_dp.algorithms.adaptive_tree import LOGS, VARIANTS, adaptive_tree, budgeted
from verifiable_dp.algorithms.robust_ucb import Supply
from verifiable_dp.core import philox, validate
from verifiable_dp.core.algorithm import Query, Truncated
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.kernels import kernel, njit
from verifiable_dp.core.mechanisms import AdaptiveTree
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.validate import FloatArray, Given, IntArray, WordArray

BLOCK = 1 << 14  # rewards of an arm, and noise, that a compiled run draws ahead


@dataclass(frozen=True)
class DPRobustUCB(TreeIndex):
    r"""UCB on noisy sums of truncated rewards: the n-th reward of an arm is truncated at B_n.

    Index, with :math:`B_n = (\varepsilon u n/\log^{1.5} T)^{1/(1+v)}`:

    .. math:: \hat S_a/n_a + 18 u^{1/(1+v)}
              \left(\frac{\log(2t^4)\log^{1.5+1/v} T}{n_a\varepsilon}\right)^{v/(1+v)}

    in round t, the first being round 1.
    With the printed constant the bonus exceeds every gap of the paper's experiments at T = 5e7, and arms are
    played almost in turn.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget, event level. A reward enters one tree; its routing depends on releases alone.
    horizon
        T >= K.
    v, u
        E|X|^(1+v) <= u, v in (0, 1].
    constants
        ``proof``, or a factor on the constant 18.
    variant
        ``corrected``: the budget of a node is epsilon/(floor(log2 T) + 1). ``printed``: epsilon/log T.
    log
        ``natural`` or ``binary``: the base of all logarithms of the listing, which the paper does not state.
        As printed it is epsilon-DP with ``binary`` for T >= 5, and not with ``natural`` at v = 1.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Tao et al. 2022, Algorithm 1.
    """

    n_arms: int
    epsilon: float
    horizon: int
    v: float
    u: float
    constants: str | float = "proof"
    variant: str = "corrected"
    log: str = "natural"
    name: ClassVar[str] = "dp-robust-ucb"
    most_simulated: ClassVar[int | None] = 10**10

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        check_moments(self.v, self.u)
        factor_of(self.constants)
        validate.choice("variant", self.variant, VARIANTS)
        validate.choice("log", self.log, tuple(LOGS))

    @property
    def bounds(self) -> tuple[float, float]:
        """The real line."""
        return LINE

    @property
    def search_bounds(self) -> tuple[float, float]:
        """The truncation of the first reward, with either sign."""
        limit = float(self.mechanism.limit(1))
        return (-limit, limit)

    @property
    def contribution(self) -> float:
        """The truncation of the last reward of an arm that is always played."""
        return float(self.mechanism.limit(self.horizon))

    @property
    def claim(self) -> PrivacyClaim:
        """Thm 1; the proof covers every noisy sum."""
        return PrivacyClaim(self.epsilon, observe="releases", source=budgeted("Theorem 1", self.variant))

    @functools.cached_property
    def mechanism(self) -> AdaptiveTree:
        """Tree of one arm."""
        return adaptive_tree(self.horizon, self.epsilon, self.v, self.u, self.variant, self.log)

    def bonus(self, t: FloatArray, pulls: FloatArray) -> FloatArray:
        """What the index adds to the mean of `pulls` rewards in round t (they broadcast)."""
        logs = np.log(2 * t**4) * self.logs
        return np.asarray(self.constant * (logs / (pulls * self.epsilon)) ** self.power)

    @property
    def constant(self) -> float:
        """Factor of the bonus, 18 u^(1/(1+v))."""
        return float(18 * factor_of(self.constants) * self.u ** (1 / (1 + self.v)))

    @property
    def power(self) -> float:
        """Exponent of the bonus, v/(1+v)."""
        return self.v / (1 + self.v)

    @property
    def logs(self) -> float:
        """log^(1.5+1/v) T, over log b for base b, so the bonus can take a natural log(2t^4)."""
        log = LOGS[self.log]
        return float(log(self.horizon) ** (1.5 + 1 / self.v) * log(math.e))

    def query(self, state: TreeState) -> Query:
        """One round; the reward is truncated by the number of its pull."""
        limit = self.mechanism.limit(state.pulls + 1.0)
        return replace(super().query(state), ask=Truncated(limit, np.zeros(limit.shape)))

    def index(self, state: TreeState) -> FloatArray:
        """Private upper confidence bounds."""
        bonus = self.bonus((state.t[:, None] + 1).astype(np.float64), state.pulls.astype(np.float64))
        return np.asarray(state.estimate / state.pulls + bonus)

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
            self._play(Supply(environment, seed, number), key_of(seed, (0,)), pulls[i], at[i], times)
        return pulls, at, np.zeros((len(run), 0))

    def _play(self, supply: Supply, key: WordArray, pulls: IntArray, at: IntArray, times: IntArray) -> None:
        """One run."""
        k = self.n_arms
        block = min(BLOCK, 1 << int(self.horizon).bit_length())
        stock, have = np.zeros((2, k, block)), np.zeros(k, np.int64)
        sums, estimate, unit = np.zeros(k), np.zeros(k), np.zeros(k)
        stacked, clock = np.zeros((k, self.mechanism.levels + 1)), np.array([0, 0, -1])
        numbers = (self.horizon, self.constant, self.power, self.logs, self.epsilon)
        while True:
            arm = _advance(numbers, times, stock, have, (pulls, at, sums), (stacked, estimate, unit), clock)
            if arm < 0:
                return
            number = np.arange(have[arm] + 1, have[arm] + block + 1)
            reward = supply.more(arm, block)
            stock[0, arm] = np.where(np.abs(reward) <= self.mechanism.limit(number), reward, 0.0)
            slot = ((np.int64(arm) << SLOT_BITS) | number)[None, :]
            drawn = np.ones(slot.shape, bool)
            scale = self.mechanism.scales(number)[None, :]
            stock[1, arm] = philox.fill_laplace(key, np.array([supply.run]), slot, scale, drawn)[0]
            have[arm] += block


@njit(inline="always")
def _lowest_bit(number):  # type: ignore[no-untyped-def]
    level = 0
    while (number >> level) & 1 == 0:
        level += 1
    return level


@kernel
def _advance(numbers, times, stock, have, played, index, clock):  # type: ignore[no-untyped-def]
    """Play until the end, -1, or until an arm lacks rewards: that arm.

    `stock` (2, K, block): truncated rewards and noise of nodes by number; `stacked` (K, levels + 1): noise of
    the nodes at a level and above that make up a prefix sum; `unit` (K,): (n epsilon)^-power; `clock`: rounds
    played, next time to record, latest arm. While the leader surely stays ahead of the others' best index,
    none is compared.
    """
    horizon, constant, power, logs, epsilon = numbers
    pulls, at, sums = played
    stacked, estimate, unit = index
    k, block = len(pulls), stock.shape[2]
    t, mark, latest = clock[0], clock[1], clock[2]
    while t < horizon:
        arm, window, safe = t, 1, math.inf
        if t >= k:
            grown = constant * (math.log(2.0 * float(t + 1) ** 4) * logs) ** power
            best = -math.inf
            for a in range(k):
                value = estimate[a] / pulls[a] + grown * unit[a]
                if value > best:
                    best, arm = value, a
            if arm == latest and pulls[arm] >= 128:
                window = min(pulls[arm] >> 6, 1024)
                later = constant * (math.log(2.0 * float(t + 1 + window) ** 4) * logs) ** power
                cap = -math.inf
                for a in range(k):
                    if a != arm:
                        cap = max(cap, estimate[a] / pulls[a] + later * unit[a])
                # The leader stays if estimate > safe * pulls throughout the window.
                safe = cap + 1e-12 - grown * ((pulls[arm] + window) * epsilon) ** -power
        latest = arm
        stop = min(t + window, horizon)
        if mark < len(times):
            stop = min(stop, times[mark])
        ahead = True
        while t < stop and ahead:
            if pulls[arm] == have[arm]:
                clock[0], clock[1], clock[2] = t, mark, latest
                if pulls[arm]:
                    unit[arm] = (pulls[arm] * epsilon) ** -power
                return arm
            place = pulls[arm] % block
            pulls[arm] += 1
            t += 1
            n = pulls[arm]
            sums[arm] += stock[0, arm, place]
            noise, rest = stock[1, arm, place], n & (n - 1)
            if rest:
                noise += stacked[arm, _lowest_bit(rest)]
            stacked[arm, _lowest_bit(n)] = noise
            estimate[arm] = sums[arm] + noise
            ahead = estimate[arm] > safe * n
        unit[arm] = (pulls[arm] * epsilon) ** -power
        while mark < len(times) and times[mark] == t:
            at[mark] = pulls
            mark += 1
    return -1
