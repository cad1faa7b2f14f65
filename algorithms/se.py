"""SE: successive elimination without privacy (Even-Dar, Mannor & Mansour 2002)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms._elimination import Elimination, EliminationState
from verifiable_dp.core import philox, validate
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.kernels import kernel, njit
from verifiable_dp.core.mechanisms import Exact
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray, Numbers


def radius(n_arms: float, pulls: Numbers, beta: Numbers) -> Numbers:
    """Hoeffding radius of a mean of `pulls` rewards; it fails for some arm and time with probability beta."""
    return np.sqrt(np.log(4 * n_arms * pulls**2 / beta) / (2 * pulls))


_radius = njit(inline="always")(radius)


@dataclass(frozen=True)
class SEState(EliminationState):
    """Public state; nothing is private here.

    Attributes
    ----------
    sums : (n, K) float
        Sum of the rewards of each arm so far.
    """

    sums: FloatArray


@dataclass(frozen=True)
class SE(Elimination):
    r"""Successive elimination: each sweep pulls each active arm once; means are over all sweeps.

    After sweep r an arm leaves if its mean lies more than twice the radius
    :math:`\sqrt{\log(4 K r^2/\beta) / (2r)}` below the largest (union of Hoeffding bounds over arms and
    sweeps, since sum 1/(2 r^2) < 1).

    Regret: O(sum_a log(KT) / Delta_a) with beta = 1/T. It makes no privacy promise: every action is a
    function of raw rewards.

    Parameters
    ----------
    n_arms
        K >= 2.
    horizon
        T >= K.
    beta
        Failure probability in (0, 1); 1/T if None.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    n_arms: int
    horizon: int
    beta: float | None = None
    name: ClassVar[str] = "se"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.beta(self)

    def start(self, run: IntArray) -> SEState:
        """All arms are active, without rewards."""
        base = super().start(run)
        return SEState(base.run, base.t, base.epoch, base.active, np.zeros(base.active.shape))

    def pulls(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """One sweep."""
        return np.ones(np.shape(epoch))

    def gap(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """Two radii."""
        return np.asarray(2 * radius(self.n_arms, epoch, self.beta))

    def mechanism(self, size: IntArray, epoch: IntArray) -> Exact:
        """The rewards of the sweep, without noise."""
        return Exact()

    def plan(self, state: SEState) -> tuple[IntArray, FloatArray]:
        """There are too many sweeps for a table."""
        epoch = state.epoch.astype(np.float64)
        size = state.size.astype(np.float64)
        return self.pulls(size, epoch).astype(np.int64), self.gap(size, epoch)

    def margin(self, state: SEState) -> None:
        """None: earlier sweeps count as well."""
        return

    def compared(self, state: SEState, released: FloatArray) -> FloatArray:
        """Means over all sweeps."""
        return np.asarray((state.sums + released) / state.epoch[:, None])

    def removed(self, state: SEState, released: FloatArray) -> BoolArray:
        """Arms more than the gap below the largest mean."""
        mean = self.compared(state, released)
        best = np.fmax.reduce(mean, axis=1, initial=-np.inf)
        return np.asarray(best[:, None] - mean > self.plan(state)[1][:, None])

    def decide(self, state: SEState, query: Query, released: FloatArray) -> SEState:
        """Add the sweep's rewards, remove arms."""
        after = super().decide(state, query, released)
        found: SEState = replace(after, sums=after.sums + np.nan_to_num(released))
        return found

    def kernel(
        self, environment: TwoPoint, seed: int, run: IntArray, times: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Compiled loop: the same pulls as the definition, draw for draw."""
        pulls, at = _kernel(
            key_of(seed, (1,)),
            run,
            (self.horizon, self.n_arms, float(self.beta or 0)),
            (environment.probabilities, environment.low, environment.high),
            times,
        )
        return pulls, at, np.zeros((len(run), 0))


@kernel
def _kernel(key, runs, rule, rewards, times):  # type: ignore[no-untyped-def]
    horizon, n_arms, beta = rule
    chance, low, high = rewards
    total = np.zeros((len(runs), n_arms), np.int64)
    at = np.zeros((len(runs), len(times), n_arms), np.int64)
    for i in range(len(runs)):
        sums = np.zeros(n_arms)
        active = np.ones(n_arms, np.bool_)
        size, t, mark, sweep = n_arms, 0, 0, 0
        pulls = np.zeros(n_arms, np.int64)
        while t < horizon and size > 1:
            sweep += 1
            for a in range(n_arms):
                if not active[a] or t >= horizon:
                    continue
                slot = (np.uint64(a) << np.uint64(SLOT_BITS)) | np.uint64(pulls[a])
                bits = philox.word(key[0], key[1], runs[i], philox.REWARD, slot)
                sums[a] += high if philox.to_unit(bits) < chance[a] else low
                pulls[a] += 1
                t += 1
                while mark < len(times) and times[mark] == t:
                    at[i, mark] = pulls
                    mark += 1
            complete = True
            best = -math.inf
            for a in range(n_arms):
                if active[a]:
                    complete = complete and pulls[a] == sweep
                    best = max(best, sums[a] / sweep)
            if complete:
                limit = 2 * _radius(n_arms, float(sweep), beta)
                for a in range(n_arms):
                    if active[a] and best - sums[a] / sweep > limit:
                        active[a] = False
                        size -= 1
        if t < horizon:
            leader = np.argmax(active)
            while mark < len(times):
                at[i, mark] = pulls
                at[i, mark, leader] += times[mark] - t
                mark += 1
            pulls[leader] += horizon - t
        total[i] = pulls
    return total, at
