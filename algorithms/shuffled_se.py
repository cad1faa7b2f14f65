"""Elimination in the shuffle model, on shuffled batches of Laplace reports (after Tenenbaum et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._elimination import Elimination
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.claims import Basis, PrivacyClaim, Source
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.units import Unit
from verifiable_dp.core.validate import FloatArray, IntArray, Numbers


@dataclass(frozen=True)
class ShuffledSE(Elimination):
    r"""Batches of 2, 4, 8, ... users an arm; a shuffler passes on an arm's reports in random order.

    In batch b every arm of the set S is pulled by :math:`l = 2^b` users. A user sends the reward plus
    :math:`Lap(1/\varepsilon_0)`, with :math:`\varepsilon_0` the largest for which l shuffled reports are
    known to be (epsilon, delta)-DP: :math:`\max(\varepsilon, \min(f^{-1}(\varepsilon), \log(l/(16
    \log(2/\delta)))))`, f as in `shuffle.formula`. Arms whose mean lies more than twice the radius below the
    largest are removed,

    .. math:: \sqrt{\frac{L}{2l}} + \frac{\sqrt{8 L \max(l, L)}}{\varepsilon_0 l},
              \quad L = \log(8|S|b^2/\beta),

    which no error exceeds with probability 1 - beta.

    Regret: O(sum_a log T/Delta_a + K sqrt(log(1/delta)) log T/epsilon) is the paper's. The bound is empty if
    T is shorter than the batches that it takes to remove an arm.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon, delta
        Privacy budget of what the shuffled reports reveal about one user.
    horizon
        T >= K.
    beta
        Failure probability in (0, 1); 1/T if None.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Written after the paper's abstract. Its users send bits to a private sum of bits, whose listing is not at
    hand; Laplace reports with amplification are in its place, and batches, radius and constants are ours.
    """

    n_arms: int
    epsilon: float
    horizon: int
    delta: float = 1e-6
    beta: float | None = None
    name: ClassVar[str] = "shuffled-se"

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        validate.probability("delta", self.delta)
        validate.beta(self)

    @property
    def claim(self) -> PrivacyClaim:
        """The adversary sees the shuffled reports of each batch."""
        note = "we use Laplace reports, not the paper's; we do not know the number of the theorem"
        return PrivacyClaim(
            self.epsilon,
            self.delta,
            observe="shuffled",
            source=Source(papers.TENENBAUM, "shuffle model", note, Basis.UNREAD),
            trust_model="shuffle",
            unit=Unit.CLIENT,
        )

    def local(self, clients: int) -> float:
        """eps0 of the reports of an arm's batch of `clients`."""
        return shuffle.local_epsilon(self.epsilon, clients, self.delta)

    def crowd(self, counts: IntArray) -> IntArray:
        """Reports among which each of batches with `counts` (n, K) is hidden, (n,): those of its arm."""
        return np.asarray(counts.max(axis=1))

    def pulls(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """l."""
        return np.asarray(2.0**epoch)

    def scales(self, epoch: Numbers) -> FloatArray:
        """Scale of the noise of a report, by batch."""
        each, which = np.unique(epoch, return_inverse=True)
        found = [1 / self.local(2 ** int(number)) for number in each.tolist()]
        return np.array(found)[which].reshape(np.shape(epoch))

    def radius(self, size: Numbers, epoch: FloatArray) -> FloatArray:
        """Bound on the distance between a mean of reports and the arm's mean."""
        pulls, log = 2.0**epoch, np.log(8 * size * epoch**2 / float(self.beta or 1))
        noise = self.scales(epoch) * np.sqrt(8 * log * np.maximum(pulls, log)) / pulls
        return np.asarray(np.sqrt(log / (2 * pulls)) + noise)

    def gap(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """An arm leaves if its upper bound lies below the largest lower bound."""
        return 2 * self.radius(size, epoch)

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sums of the reports of this batch, by arm."""
        scale = np.repeat(self.scales(state.epoch)[:, None], self.n_arms, axis=1)
        return memory, noise(
            Draw(answer, scale, state.run, *self.addresses(state, query), count=query.pulls())
        )
