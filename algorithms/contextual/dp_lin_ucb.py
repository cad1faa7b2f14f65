"""Private LinUCB with contexts, on a tree of noisy outer products (after Shariff & Sheffet 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.contextual._regression import NoisyRegression, Regressed
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.claims import Basis, PrivacyClaim, Source, gdp_mu
from verifiable_dp.core.mechanisms.tree import Nodes, NormalTree, TreeMemory, update_nodes
from verifiable_dp.core.noise import Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, IntArray


@dataclass(frozen=True)
class DPLinUCB(NoisyRegression):
    r"""LinUCB on noisy sums of :math:`[x; r][x; r]^T`, released by a tree with normal noise: joint privacy.

    Each user takes the arm with the largest upper confidence bound and gives :math:`[x; r][x; r]^T`, the
    context clipped to `norm`. A tree over the rounds releases partial sums, each with symmetric normal noise:
    standard deviation :math:`\sigma` on the diagonal, :math:`\sigma/\sqrt2` off it. With m levels and
    :math:`\tilde L^2 = L^2 + 1`, one replaced user moves each of at most m released matrices by at most
    :math:`\sqrt2 \tilde L^2` in the Frobenius norm, so that

    .. math:: \sigma = \sqrt{2m}\, \tilde L^2 / \mu

    is mu-GDP; mu is the largest that implies (epsilon, delta). All others' actions follow from the releases
    and their own contexts, which is joint privacy (the billboard lemma).

    With :math:`\Upsilon = \sigma \sqrt m (\sqrt{2d} + \sqrt{2 \log(4T/\alpha)})`, which no noise of a prefix
    sum exceeds in the spectral norm in all T rounds with probability :math:`1 - \alpha/2`, the Gram matrix is
    shifted by :math:`2 \Upsilon I`, so everything that is added to it lies in :math:`[\Upsilon, 3\Upsilon]`.
    The radius is

    .. math:: \tfrac12 \sqrt{2 \log\frac4\alpha + \log \det V - d \log \Upsilon} + \sqrt{3\Upsilon}
              + \frac{\sigma \sqrt{m/2}\, (\sqrt d + \sqrt{2 \log(4T/\alpha)})}{\sqrt\Upsilon}.

    The form (tree, symmetric normal noise, shift by twice its bound) follows what is known about the paper,
    whose text we did not have. All constants are ours: sigma from the exact trade-off of normal noise,
    Upsilon from Gaussian concentration, the radius from Theorem 2 of Abbasi-Yadkori, Pál & Szepesvári (2011)
    and the triangle inequality, rewards in [0, 1], a true parameter of norm at most 1. We do not know those
    of the paper.

    Parameters
    ----------
    n_arms
        K >= 2.
    dimension
        d >= 1, of the context of an arm.
    epsilon
        Privacy budget of the whole run, above 0.
    horizon
        T >= K.
    delta
        In (0, 1).
    norm
        L > 0; longer contexts are clipped.
    alpha
        Failure probability of the confidence bounds, in (0, 1); 1/T if None.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    n_arms: int
    dimension: int
    epsilon: float
    horizon: int
    delta: float = 1e-6
    norm: float = 1.0
    alpha: float | None = None
    name: ClassVar[str] = "dp-lin-ucb"

    def __post_init__(self) -> None:
        self.check()

    @property
    def claim(self) -> PrivacyClaim:
        """Joint privacy of one user's context and reward."""
        source = Source(
            papers.SHARIFF,
            "joint privacy of the tree",
            "we did not have the paper; constants are ours",
            Basis.UNREAD,
        )
        return PrivacyClaim.of_users(
            self.epsilon, self.delta, model="joint", protects="context", observe="releases", source=source
        )

    @cached_property
    def tree(self) -> Nodes:
        """The mechanism: another user's item differs by at most sqrt 2 times its largest norm."""
        return NormalTree(self.horizon, gdp_mu(self.epsilon, self.delta), math.sqrt(2) * self.item_norm)

    @property
    def deviation(self) -> float:
        """A prefix sum has the noise of at most one node of each level."""
        return self.tree.scale * math.sqrt(self.tree.levels)

    def parts(self, n: int) -> FloatArray:
        """Empty nodes of all levels."""
        return np.repeat(super().parts(n), self.tree.levels, axis=1)

    def private(self, run: IntArray) -> TreeMemory:
        """Exact sums of the open nodes."""
        return self.tree.start(len(run), (self.dimension + 1) * (self.dimension + 2) // 2)

    def release(
        self, state: Regressed, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Insert the user's item."""
        return self.tree.insert(memory, answer, noise, state.run, np.ones(answer.shape, bool))

    def joined(self, sums: FloatArray, number: IntArray, released: FloatArray) -> FloatArray:
        """Set the node that the item has completed."""
        return update_nodes(sums, number, released)
