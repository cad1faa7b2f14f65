"""Private LinUCB with contexts, on a tree of matrices with Wishart noise (after Shariff & Sheffet 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from verifiable_dp.algorithms.contextual.dp_lin_ucb import DPLinUCB
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import wishart


@dataclass(frozen=True)
class DPLinUCBWishart(DPLinUCB):
    r"""`DPLinUCB` whose tree releases :math:`\sum [x; r][x; r]^T + W`, W having Wishart noise.

    Every node has its own :math:`W \sim W_{d+1}(I, k)`, a sum of k outer products of standard normal vectors,
    less its mean :math:`k I`, which is public. With :math:`\tilde L^2 = L^2 + 1` and m levels, k is the least
    whole number with which replacing one user, whose :math:`[x; r][x; r]^T` enters at most m nodes, is
    (epsilon, delta)-DP, by the law of the privacy loss in `mechanisms.wishart`.

    Without its mean, the noise of a prefix sum is at most :math:`\Upsilon = 2 \sqrt{mk}\, w + w^2`,
    :math:`w = \sqrt d + \sqrt{2 \log(4T/\alpha)}`, in the spectral norm in all T rounds with probability
    :math:`1 - \alpha/2`. As in `DPLinUCB` the Gram matrix is shifted by :math:`2 \Upsilon I`, which keeps it
    positive definite; of the noise of :math:`r x` the radius takes
    :math:`(\sqrt{mk} + \tau)(\sqrt d + \tau)`, :math:`\tau = \sqrt{2 \log(8T/\alpha)}`.

    That nodes get Wishart noise, and that a part of its mean is taken off, is what is known about the paper,
    whose text we did not have. The law, k, shift and radius are ours; Upsilon is from the concentration of
    singular values of normal matrices (Davidson & Szarek 2001). We do not know the constants of the paper.
    Public code after it takes :math:`k = d + 1 + \lceil 224\, m \varepsilon^{-2} \log(8m/\delta)
    \log(2/\delta) \rceil`, :math:`m = 1 + \lceil \log_2 T \rceil`, which is hundreds of times what the law
    asks for.

    Parameters
    ----------
    n_arms, dimension, epsilon, horizon, delta, norm, alpha
        See `DPLinUCB`.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    name: ClassVar[str] = "dp-lin-ucb-wishart"

    @property
    def claim(self) -> PrivacyClaim:
        """Joint privacy of one user's context and reward."""
        claim = super().claim
        assert claim.source is not None
        source = replace(claim.source, statement="joint privacy of the tree, Wishart noise")
        return replace(claim, source=source)

    @cached_property
    def tree(self) -> wishart.WishartTree:
        """The mechanism."""
        size, levels = self.dimension + 1, self.horizon.bit_length()
        k = wishart.least_freedom(self.epsilon, self.delta, self.item_norm, size, levels)
        return wishart.WishartTree(self.horizon, size, k)

    @property
    def summed(self) -> float:
        """sqrt(m k): a prefix sum has the noise of at most one node of each level."""
        return math.sqrt(self.tree.levels * self.tree.freedom)

    def spread(self, chance: float) -> float:
        """Upsilon: the noise of a prefix sum exceeds it with at most this probability."""
        most = math.sqrt(self.dimension) + math.sqrt(2 * math.log(2 / chance))
        return 2 * self.summed * most + most**2

    @property
    def moved(self) -> float:
        """Bound on the noise of all prefix sums of r x, which fails with probability at most alpha/4."""
        most = math.sqrt(2 * math.log(8 * self.horizon / float(self.alpha or 1)))
        return (self.summed + most) * (math.sqrt(self.dimension) + most)
