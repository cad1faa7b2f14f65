"""DP-KLUCB: KL-UCB on noisy sums that add up, without forgetting (after Azize et al. 2025)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._episodes import Episodes
from verifiable_dp.algorithms.adap_klucb import kl_bound
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Query
from verifiable_dp.core.claims import Basis, Source
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, InputError, IntArray, Numbers

_LEAST = 1e-300  # of what a logarithm is taken


def divergence(mean: Numbers, better: Numbers, epsilon: float) -> FloatArray:
    r"""d_epsilon(x, y) for x <= y in [0, 1]: the least of epsilon (z - x) + d(z, y) over z in [x, y].

    The least is at z/(1 - z) = y e^-epsilon/(1 - y) where that z exceeds x, and is there
    :math:`-\varepsilon x - \log(1 - y (1 - e^{-\varepsilon}))`; elsewhere it is d(x, y), the relative entropy
    of Bernoulli laws. It is also the largest of :math:`-\lambda x - \log(1 - y (1 - e^{-\lambda}))` over
    lambda in [0, epsilon]: Chernoff's exponent of a mean with Laplace noise.
    """
    x, y = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), better)
    moment = 1 + y * np.expm1(-epsilon)
    private = -epsilon * x - np.log(np.maximum(moment, _LEAST))
    known = np.where(x > 0, x * np.log(np.maximum(x, _LEAST) / np.maximum(y, _LEAST)), 0.0)
    rest = np.maximum(1 - x, _LEAST) / np.maximum(1 - y, _LEAST)
    entropy = known + np.where(x < 1, (1 - x) * np.log(rest), 0.0)
    found = np.where(y * np.exp(-epsilon) > x * moment, private, entropy)
    return np.asarray(np.where(y > x, np.maximum(found, 0.0), 0.0))


def largest(mean: FloatArray, level: FloatArray, epsilon: float) -> FloatArray:
    """The largest y in [mean, 1] with d_epsilon(mean, y) <= level, elementwise."""
    mean, level = np.broadcast_arrays(mean, level)
    y = kl_bound(mean, level)
    linear = -np.expm1(-np.minimum(level + epsilon * mean, 700.0)) / -np.expm1(-epsilon)
    noisy = y * np.exp(-epsilon) > mean * (1 + y * np.expm1(-epsilon))
    return np.asarray(np.where(noisy, np.clip(linear, mean, 1.0), y))


@dataclass(frozen=True)
class DPKLUCB(Episodes):
    r"""Play the arm with the largest index for a phase; add the phase's noisy sum to what the arm had before.

    An arm with n pulls is played for max(1, ceil((growth - 1) n)) rounds. The phase's sum is released with
    :math:`Lap(1/\varepsilon)` and added to the arm's earlier sums. Each reward enters one release, and
    nothing is forgotten. With :math:`\tilde\mu_a` the noisy sum over all n_a pulls, clipped to [0, 1], and t
    the first round of the next phase, the index is the largest q with

    .. math:: n_a\, d_\varepsilon(\tilde\mu_a, q) \le \log t + 3 \log(1 + \log t),

    d_epsilon as in `divergence`.

    Regret: O(sum_a Delta_a log T/d_epsilon(mu_a, mu*)) for Bernoulli rewards, which is also the order of the
    paper's lower bound. For short T all indices are 1 and arms are played in turn.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= K; decisions do not depend on it.
    growth
        Factor by which an arm's pulls grow from phase to phase, above 1 and at most 2.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Written from the paper's abstract and public notes on it; we did not have its listing. The closed form of
    d_epsilon and the term 3 log(1 + log t), which KL-UCB has, are ours; we do not know the paper's growth.
    """

    n_arms: int
    epsilon: float
    horizon: int
    growth: float = 1.5
    name: ClassVar[str] = "dp-klucb"
    statement: ClassVar[Source] = Source(
        papers.AZIZE_OPTIMAL,
        "DP-KLUCB",
        "we do not know the number of the theorem; we assume that each reward enters one visible release",
        Basis.UNREAD,
    )

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        if not 1 < validate.positive("growth", self.growth) <= 2:
            raise InputError(f"growth must lie in (1, 2], got {self.growth!r}")

    def rounds(self, state: Own) -> IntArray:
        """Length of the next phase."""
        pulls = (state.pulls * state.active).sum(axis=1)
        return np.asarray(np.maximum(np.ceil((self.growth - 1) * pulls), 1).astype(np.int64))

    def estimates(self, state: Own, query: Query, released: FloatArray) -> FloatArray:
        """The noisy mean of all phases."""
        sums = state.estimate * state.pulls + released
        after = np.maximum(state.pulls + query.pulls(), 1)
        return np.asarray(np.where(np.isnan(released), state.estimate, sums / after))

    def level(self, state: Own) -> FloatArray:
        """log t + 3 log(1 + log t), (n, 1)."""
        log = np.log(state.t + 1.0)[:, None]
        return np.asarray(log + 3 * np.log1p(log))

    def index(self, state: Own) -> FloatArray:
        """Upper confidence bounds."""
        mean = np.clip(state.estimate, 0.0, 1.0)
        return largest(mean, self.level(state) / np.maximum(state.pulls, 1), self.epsilon)
