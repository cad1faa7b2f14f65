"""Adaptive tree sums: the tree mechanism of Tao et al. for truncated rewards, by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._index import PrefixSums
from verifiable_dp.algorithms._robust import LINE, check_moments
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Query, State, Truncated
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.mechanisms import AdaptiveTree

VARIANTS = ("corrected", "printed")
LOGS = {"natural": math.log, "binary": math.log2}
_PRINTED = {"natural": "log", "binary": "log2"}  # budget of a node


def adaptive_tree(horizon: int, epsilon: float, v: float, u: float, variant: str, log: str) -> AdaptiveTree:
    """The tree of one arm, with B_n = (epsilon u n/log^1.5 T)^(1/(1+v)) (Algorithm 1, line 3)."""
    power = 1 / (1 + v)
    factor = (epsilon * u / LOGS[log](horizon) ** 1.5) ** power
    budget = "levels" if variant == "corrected" else _PRINTED[log]
    return AdaptiveTree(horizon, epsilon, 1.0, budget, factor, power)


def budgeted(statement: str, variant: str) -> Source:
    """The paper's promise, and with which budget for a node it holds."""
    note = "with epsilon/(floor(log2 T) + 1) per node, which is our choice" if variant == "corrected" else ""
    return Source(papers.TAO, statement, note)


@dataclass(frozen=True)
class AdaptiveTreeSum(PrefixSums):
    r"""Release, after each item, the node of the tree that it completes; item n is truncated at B_n.

    :math:`B_n = (\varepsilon u n/\log^{1.5} T)^{1/(1+v)}`, node noise :math:`Lap(2B_n L/\varepsilon)`.
    Corrected: :math:`L = \lfloor\log_2 T\rfloor + 1`, the most nodes that an item enters. Printed: :math:`L =
    \log T`. Then the stream costs more than epsilon if the logarithm is natural (1.4 epsilon at v = 1 and T =
    2^16); with log2 it costs at most epsilon for T >= 5, as B_n grows.

    Parameters
    ----------
    epsilon
        Privacy budget of the whole stream.
    horizon
        T >= 2, the number of items.
    v, u
        E|X|^(1+v) <= u, v in (0, 1].
    variant
        ``corrected`` or ``printed``.
    log
        ``natural`` or ``binary``: the base of log T in B_n and in the budget as printed; not stated.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Tao et al. 2022, Algorithm 2 and Lemma 2.
    """

    epsilon: float
    horizon: int
    v: float
    u: float
    variant: str = "corrected"
    log: str = "natural"
    name: ClassVar[str] = "adaptive-tree"

    def __post_init__(self) -> None:
        validate.positive("epsilon", self.epsilon)
        validate.integer("horizon", self.horizon, least=2)
        check_moments(self.v, self.u)
        validate.choice("variant", self.variant, VARIANTS)
        validate.choice("log", self.log, tuple(LOGS))

    @property
    def bounds(self) -> tuple[float, float]:
        """The real line."""
        return LINE

    @property
    def search_bounds(self) -> tuple[float, float]:
        """The truncation of the first item, with either sign."""
        limit = float(self.mechanism.limit(1))
        return (-limit, limit)

    @property
    def contribution(self) -> float:
        """The truncation of the last item."""
        return float(self.mechanism.limit(self.horizon))

    @property
    def claim(self) -> PrivacyClaim:
        """Lemma 2; the releases are what its proof covers."""
        return PrivacyClaim(self.epsilon, observe="releases", source=budgeted("Lemma 2", self.variant))

    @property
    def mechanism(self) -> AdaptiveTree:
        """The tree."""
        return adaptive_tree(self.horizon, self.epsilon, self.v, self.u, self.variant, self.log)

    def query(self, state: State) -> Query:
        """One item, truncated."""
        limit = self.mechanism.limit(state.t + 1.0)[:, None]
        return replace(super().query(state), ask=Truncated(limit, np.zeros(limit.shape)))
