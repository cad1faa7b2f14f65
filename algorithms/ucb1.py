"""UCB1, without privacy (Auer, Cesa-Bianchi & Fischer 2002)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numba import njit

from verifiable_dp.algorithms._index import Index, IndexState
from verifiable_dp.core import philox, validate
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.mechanisms import Exact
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import Noise, key_of
from verifiable_dp.core.validate import FloatArray, IntArray


def ucb(estimate: Any, pulls: Any, log_t: Any) -> Any:
    """Mean plus sqrt(2 log t / n_a)."""
    return estimate / pulls + np.sqrt(2 * log_t / pulls)


_ucb = njit(inline="always")(ucb)


@dataclass(frozen=True)
class UCB1(Index):
    r"""Play the arm of the largest :math:`\bar\mu_a + \sqrt{2 \log t / n_a}`, t rounds being over.

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
        self, state: IndexState, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """The reward as it is."""
        slot = state.t[:, None] * self.n_arms + np.arange(self.n_arms)
        return memory, Exact().release(answer, noise, state.run, slot, query.active)

    def estimates(self, state: IndexState, query: Query, released: FloatArray) -> IndexState:
        """Add the reward."""
        return replace(state, estimate=state.estimate + np.nan_to_num(released))

    def kernel(
        self, environment: TwoPoint, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Compiled loop: the same pulls as the definition, draw for draw."""
        pulls, at = _kernel(
            key_of(seed, (1,)),
            run,
            self.horizon,
            (environment.probabilities, environment.low, environment.high),
            times,
        )
        return pulls, at, np.zeros((len(run), 0))


@kernel
def _kernel(key, runs, horizon, rewards, times):  # type: ignore[no-untyped-def]
    """Leader runs: rounds in which no reward can unseat the leader are played without comparing indices."""
    chance, low, high = rewards
    k = len(chance)
    total = np.zeros((len(runs), k), np.int64)
    at = np.zeros((len(runs), len(times), k), np.int64)
    for i in range(len(runs)):
        pulls = np.zeros(k, np.int64)
        sums = np.zeros(k)
        words = np.zeros((k, 4), np.uint64)
        t, mark, window = 0, 0, 1
        while t < horizon:
            arm, steps = t, 1
            if t >= k:
                log_t = math.log(float(t))
                best = -math.inf
                for a in range(k):
                    value = _ucb(sums[a], pulls[a], log_t)
                    if value > best:
                        best, arm = value, a
                window = _safe_steps(sums, pulls, arm, t, low, k, min(4 * window, 4096))
                steps = window
            steps = min(steps, horizon - t)
            if mark < len(times):
                steps = min(steps, times[mark] - t)
            n = pulls[arm]
            hits = 0
            for j in range(n, n + steps):
                which = j & 3
                if which == 0 or j == n:
                    slot = (np.uint64(arm) << np.uint64(SLOT_BITS)) | np.uint64(j)
                    w = philox.block(
                        key[0], key[1], slot >> np.uint64(2), np.uint64(runs[i]), philox.REWARD, np.uint64(0)
                    )
                    words[arm, 0], words[arm, 1], words[arm, 2], words[arm, 3] = w
                hits += philox.to_unit(words[arm, which]) < chance[arm]
            sums[arm] += low * (steps - hits) + high * hits
            pulls[arm] += steps
            t += steps
            while mark < len(times) and times[mark] == t:
                at[i, mark] = pulls
                mark += 1
        total[i] = pulls
    return total, at


@njit(inline="always")
def _safe_steps(sums, pulls, arm, t, low, k, steps):  # type: ignore[no-untyped-def]
    """At most `steps` rounds from t on in which `arm` stays the leader, whatever it pays; at least 1."""
    while steps > 1:
        later = math.log(float(t + steps))
        cap = -math.inf
        for a in range(k):
            if a != arm:
                cap = max(cap, _ucb(sums[a], pulls[a], later))
        n = pulls[arm] + steps
        floor = (sums[arm] + low * steps) / n + math.sqrt(2 * math.log(float(t)) / n)
        if floor > cap + 1e-9:
            return steps
        steps //= 4
    return 1
