"""Tree sums: the tree mechanism by itself, releasing the prefix sums of one stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._index import PrefixSums
from verifiable_dp.core import validate
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Tree


@dataclass(frozen=True)
class TreeSum(PrefixSums):
    """Release, after each item, the node of the tree that the item completes.

    The error of a prefix sum is O(log^{1.5} T / epsilon) with constant probability.

    Parameters
    ----------
    epsilon
        Privacy budget of the whole stream.
    horizon
        T >= 1, the number of items; at least 2 for the logarithmic budgets.
    budget
        ``levels``, or ``log`` and ``log2`` as printed elsewhere; see `mechanisms.Tree`.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    epsilon: float
    horizon: int
    budget: str = "levels"
    name: ClassVar[str] = "tree-sum"

    def __post_init__(self) -> None:
        validate.positive("epsilon", self.epsilon)
        validate.integer("horizon", self.horizon, least=1)
        Tree(self.horizon, self.epsilon, budget=self.budget)

    @property
    def claim(self) -> PrivacyClaim:
        """Chan, Shi & Song; `log` is the budget that Tao et al. print in Algorithm 2 and claim in Lemma 2."""
        if self.budget == "levels":
            return PrivacyClaim(self.epsilon, observe="releases", source=Source(papers.CHAN, "Theorem 3.5"))
        return PrivacyClaim(self.epsilon, observe="releases", source=Source(papers.TAO, "Algorithm 2"))

    @property
    def mechanism(self) -> Tree:
        """The tree."""
        return Tree(self.horizon, self.epsilon, budget=self.budget)
