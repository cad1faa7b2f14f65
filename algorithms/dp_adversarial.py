"""A private bandit for adversarial rewards: Exp3 or Tsallis-INF on noisy batches (after Asi et al. 2025)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._episodes import EDGE, Turns
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.claims import Basis, PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, IntArray

BASES = ("exp3", "tsallis-inf")
_STEPS, _CLOSE = 60, 1e-13  # of Newton's method


def half_tsallis(losses: FloatArray, rate: FloatArray) -> FloatArray:
    """Chances 4/(rate (L_a - x))^2 that add up to 1, x below all losses; (n, K), rates (n, 1)."""
    x = losses.min(axis=1, keepdims=True) - 2 / rate  # the best arm alone has chance 1: the sum is at least 1
    for _ in range(_STEPS):  # the sum is convex in x and rises: Newton's method falls to the root
        chance = 4 / (rate * (losses - x)) ** 2
        above = chance.sum(axis=1, keepdims=True) - 1
        if above.max() < _CLOSE:
            break
        x = x - above / (rate * chance**1.5).sum(axis=1, keepdims=True)
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class DPAdversarial(Turns):
    r"""A non-private adversarial bandit that plays one arm for a batch and receives a noisy mean loss.

    A batch has :math:`b = \lceil 1/\varepsilon \rceil` rounds, and its arm is drawn from the bandit's
    probabilities p. The bandit receives :math:`\tilde\ell = 1 - (S + Lap(1/\varepsilon))/b`, where S is the
    sum of the batch's rewards, clipped to [-c, 1 + c] with c = 2 log(T)/(b epsilon). Its estimate of an arm's
    loss is :math:`\tilde\ell/p_a` for the arm that was played and 0 for the others; L is their sum.

    - ``exp3``: p is a share 1 - g of weights proportional to exp(-h L), and g/K; h is the rate that makes the
      bound below least, and g = h K (1 + c).
    - ``tsallis-inf``: :math:`p_a = 4/(h_j (L_a - x))^2`, x such that they add up to 1, and :math:`h_j =
      2/\sqrt{j (1 + 2 s^2)}` in batch j, s = 1/(b epsilon) the scale of the noise.

    Regret against the best arm in hindsight, ``exp3``, of an oblivious table with rewards in [0, 1]:
    at most :math:`b (\log(K)/h + h N K (1 + 2 s^2)/(1 - g) + g N + 2) + 1`, N = T/b, which is
    O(sqrt(K log(K) log(T) T/epsilon)) for epsilon <= 1. The bound is empty unless g is below 1/2.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= K.
    base
        ``exp3`` or ``tsallis-inf``.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Written from the paper's abstract, which has O(sqrt(KT/epsilon)). We did not have its listing,
    its batches and its rates; those here are ours. The first batch plays the first arm, and its loss is not
    used. Coins are public: each is computed from a Laplace draw that does not depend on data.
    """

    n_arms: int
    epsilon: float
    horizon: int
    base: str = "exp3"
    name: ClassVar[str] = "dp-adversarial"
    most_simulated: ClassVar[int | None] = 10**7

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        validate.choice("base", self.base, BASES)

    @property
    def claim(self) -> PrivacyClaim:
        """A reward enters the sum of one batch."""
        note = (
            "we do not know the number of the theorem; we assume that means are released, each reward in one"
        )
        return PrivacyClaim(
            self.epsilon,
            observe="releases",
            source=Source(papers.ASI, "private adversarial bandits", note, Basis.UNREAD),
        )

    @property
    def mechanism(self) -> Laplace:
        """Mechanism for the sum of a batch."""
        return Laplace(1.0, self.epsilon)

    @property
    def coins(self) -> int:
        """One for the arm of the next batch."""
        return 1

    @property
    def batch(self) -> int:
        """b."""
        return min(math.ceil(1 / self.epsilon), self.horizon)

    @property
    def scale(self) -> float:
        """s, of the noise of a mean."""
        return self.mechanism.scale / self.batch

    @property
    def most(self) -> float:
        """c, the farthest that a noisy loss may lie outside [0, 1]."""
        return 2 * math.log(self.horizon) * self.scale

    @property
    def rate(self) -> float:
        """h of ``exp3``."""
        told = self.n_arms * (2 * (1 + 2 * self.scale**2) + 1 + self.most)
        return math.sqrt(math.log(self.n_arms) / (self.horizon / self.batch * told))

    @property
    def mixed(self) -> float:
        """g of ``exp3``."""
        return min(self.rate * self.n_arms * (1 + self.most), 0.5)

    def rounds(self, state: Own) -> IntArray:
        """A batch."""
        return np.full(len(state.run), self.batch, np.int64)

    def chances(self, state: Own) -> FloatArray:
        """p, (n, K)."""
        losses = state.estimate
        if self.base == "tsallis-inf":
            number = np.maximum(state.t // self.batch, 1)[:, None]
            return half_tsallis(losses, 2 / np.sqrt(number * (1 + 2 * self.scale**2)))
        weights = np.exp(-self.rate * (losses - losses.min(axis=1, keepdims=True)))
        share = weights / weights.sum(axis=1, keepdims=True)
        return np.asarray((1 - self.mixed) * share + self.mixed / self.n_arms)

    def index(self, state: Own) -> FloatArray:
        """The chances."""
        return self.chances(state)

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Columns: the sum of the batch, and the coin of the next one."""
        n, width = len(answer), self.n_arms + self.coins
        scale = np.repeat([self.mechanism.scale, 1.0], [self.n_arms, self.coins])
        draw = Draw(
            np.hstack([answer, np.zeros((n, 1))]),
            np.broadcast_to(scale, (n, width)),
            state.run,
            state.t[:, None] * width + np.arange(width),
            np.hstack([query.active, np.ones((n, 1), bool)]) & query.complete[:, None],
        )
        return memory, noise(draw)

    def estimates(self, state: Own, query: Query, released: FloatArray) -> FloatArray:
        """Sums of losses over their chances."""
        sums = released[:, : self.n_arms]
        chance = np.maximum(self.chances(state), EDGE)
        loss = np.clip(1 - sums / self.batch, -self.most, 1 + self.most) / chance
        used = ~np.isnan(sums) & (state.t > 0)[:, None]
        return np.asarray(state.estimate + np.where(used, loss, 0.0))

    def choice(self, state: Own, released: FloatArray) -> IntArray:
        """The arm that the coin falls on."""
        coin = np.nan_to_num(released[:, self.n_arms])
        tail = np.exp(-np.abs(coin)) / 2
        uniform = np.where(coin < 0, tail, 1 - tail)
        below = np.cumsum(self.index(state), axis=1) < uniform[:, None]
        return np.asarray(np.minimum(below.sum(axis=1), self.n_arms - 1))
