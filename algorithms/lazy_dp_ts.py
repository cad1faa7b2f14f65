"""Lazy DP-TS: Thompson sampling on noisy means of doubling batches (Hu & Hegde 2022, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import betaincinv

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._episodes import Turns
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Batch, Memory, Query
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.validate import BoolArray, FloatArray, IntArray

EDGE = 1e-9  # no quantile of a posterior is taken closer to 0 or 1


@dataclass(frozen=True)
class Buffers(Batch):
    """Private side: sums (n, K) of the rewards since each arm's last release."""

    sums: FloatArray


@dataclass(frozen=True)
class LazyDPTS(Turns):
    r"""Draw from optimistic posteriors; an arm's batches have 1, 2, 4, ... rewards, of which the last counts.

    With O_a the size of the arm's last batch and :math:`\tilde\mu_a` its sum plus
    :math:`Lap(1/\varepsilon)` over O_a, round t plays the arm of the largest draw from
    :math:`Beta(\mu_a O_a + 1, (1 - \mu_a) O_a + 1)`, where :math:`\mu_a` is
    :math:`\tilde\mu_a + 3 \log t/(\varepsilon O_a)`, clipped to [0, 1].

    Regret: O(sum_a log T/min(epsilon, Delta_a)) (Theorem 4). For short T all means are clipped to 1.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= K; decisions do not depend on it.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Written after public notes on the paper; its own listing and constants are not at hand. Posteriors are
    sampled by their quantiles at public coins, each made from a Laplace draw that no data enter.
    """

    n_arms: int
    epsilon: float
    horizon: int
    name: ClassVar[str] = "lazy-dp-ts"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)

    @property
    def claim(self) -> PrivacyClaim:
        """A reward enters one batch."""
        return PrivacyClaim(self.epsilon, observe="releases", source=Source(papers.HU, "Theorem 3"))

    @property
    def mechanism(self) -> Laplace:
        """Of the sum of a batch."""
        return Laplace(1.0, self.epsilon)

    def private(self, run: IntArray) -> Memory:
        """No rewards."""
        return Buffers(np.zeros((len(run), self.n_arms)))

    def release(
        self, state: Any, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Columns: the sum of a batch that is full, and a coin for each arm."""
        sums, after, k = memory.sums + answer, state.pulls + query.pulls(), self.n_arms
        full = query.active & query.complete[:, None] & (after & (after + 1) == 0)
        coins = np.broadcast_to(query.complete[:, None], sums.shape)
        scale = np.repeat([self.mechanism.scale, 1.0], k)
        draw = Draw(
            np.hstack([sums, np.zeros(sums.shape)]),
            np.broadcast_to(scale, (len(sums), 2 * k)),
            state.run,
            state.t[:, None] * 2 * k + np.arange(2 * k),
            np.hstack([full, coins]),
        )
        return Buffers(self.kept(sums, full)), noise(draw)

    def kept(self, sums: FloatArray, full: BoolArray) -> FloatArray:
        """What stays private after a release: a full batch is forgotten."""
        return np.where(full, 0.0, sums)

    def estimates(self, state: Any, query: Query, released: FloatArray) -> FloatArray:
        """Mean of the arm's last batch."""
        batch = (state.pulls + query.pulls() + 1) // 2
        sums = released[:, : self.n_arms]
        return np.asarray(np.where(np.isnan(sums), state.estimate, sums / np.maximum(batch, 1)))

    def last(self, state: Any) -> FloatArray:
        """O_a: the largest power of two that is at most half of the pulls and one, (n, K)."""
        return np.asarray(2.0 ** (np.frexp(np.maximum(state.pulls, 1) + 1.0)[1] - 2))

    def width(self, state: Any) -> FloatArray:
        """What is added to a noisy mean, (n, K)."""
        return np.asarray(3 * np.log(state.t + 1.0)[:, None] / (self.epsilon * self.last(state)))

    def index(self, state: Any) -> FloatArray:
        """Optimistic means, (n, K)."""
        return np.asarray(np.clip(state.estimate + self.width(state), 0.0, 1.0))

    def samples(self, state: Any, released: FloatArray) -> FloatArray:
        """Draws from the posteriors, (n, K)."""
        coin, mean, batch = released[:, self.n_arms :], self.index(state), self.last(state)
        tail = np.exp(-np.abs(coin)) / 2
        chance = np.clip(np.where(coin < 0, tail, 1 - tail), EDGE, 1 - EDGE)
        return np.asarray(
            betaincinv(mean * batch + 1, (1 - mean) * batch + 1, np.nan_to_num(chance, nan=0.5))
        )

    def choice(self, state: Any, released: FloatArray) -> IntArray:
        """The arm of the largest draw."""
        best = self.samples(state, released).argmax(axis=1)
        return np.asarray(np.where(state.t < self.n_arms, state.t, best))
