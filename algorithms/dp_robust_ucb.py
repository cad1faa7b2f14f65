"""DP Robust UCB: an index on truncated sums, one adaptive tree per arm."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp import _validate
from verifiable_dp._validate import FloatArray
from verifiable_dp.algorithm import Query, Truncated
from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._index import TreeIndex, TreeState
from verifiable_dp.algorithms._robust import LINE, check_moments, factor_of
from verifiable_dp.algorithms.adaptive_tree import BUDGETS, adaptive_tree
from verifiable_dp.claims import PrivacyClaim, Source
from verifiable_dp.mechanisms import AdaptiveTree


@dataclass(frozen=True)
class DPRobustUCB(TreeIndex):
    r"""UCB on noisy sums of truncated rewards: the n-th reward of an arm is truncated at B_n.

    Index, with :math:`B_n = (\varepsilon u n/\log^{1.5} T)^{1/(1+v)}`:

    .. math:: \hat S_a/n_a + 18 u^{1/(1+v)}
              \left(\frac{\log(2t^4)\log^{1.5+1/v} T}{n_a\varepsilon}\right)^{v/(1+v)}.

    With the printed constant the bonus exceeds any gap at practical horizons, and arms are played in turn.

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
    name: ClassVar[str] = "dp-robust-ucb"

    def __post_init__(self) -> None:
        _validate.arms_and_horizon(self.n_arms, self.horizon)
        _validate.positive("epsilon", self.epsilon)
        check_moments(self.v, self.u)
        factor_of(self.constants)
        _validate.choice("variant", self.variant, tuple(BUDGETS))

    @property
    def bounds(self) -> tuple[float, float]:
        """The real line."""
        return LINE

    @property
    def search_bounds(self) -> tuple[float, float]:
        """The truncation of the first reward, either sign."""
        limit = float(self.mechanism.limit(1))
        return (-limit, limit)

    @property
    def claim(self) -> PrivacyClaim:
        """Thm 1; the proof covers every noisy sum."""
        return PrivacyClaim(self.epsilon, observe="releases", source=Source(papers.TAO, "Theorem 1"))

    @functools.cached_property
    def mechanism(self) -> AdaptiveTree:
        """Tree of one arm."""
        return adaptive_tree(self.horizon, self.epsilon, self.v, self.u, self.variant)

    def bonus(self, t: FloatArray, pulls: FloatArray) -> FloatArray:
        """What the index adds to the mean of `pulls` rewards in round t (they broadcast)."""
        power = self.v / (1 + self.v)
        constant = 18 * factor_of(self.constants) * self.u ** (1 / (1 + self.v))
        logs = np.log(2 * t**4) * math.log(self.horizon) ** (1.5 + 1 / self.v)
        return np.asarray(constant * (logs / (pulls * self.epsilon)) ** power)

    def query(self, state: TreeState) -> Query:
        """One round; the reward is truncated by the number of its pull."""
        limit = self.mechanism.limit(state.pulls + 1.0)
        return replace(super().query(state), ask=Truncated(limit, np.zeros(limit.shape)))

    def index(self, state: TreeState) -> FloatArray:
        """Private upper confidence bounds."""
        bonus = self.bonus(state.t[:, None].astype(np.float64), state.pulls.astype(np.float64))
        return np.asarray(state.estimate / state.pulls + bonus)
