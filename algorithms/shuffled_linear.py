"""DP linear bandit, shuffled model (Hanna, Girgis, Fragouli & Diggavi 2022, Algorithm 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._linear import LinearState
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.ldp_linear import printed_width, width
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.units import Unit
from verifiable_dp.core.validate import FloatArray, IntArray


@dataclass(frozen=True)
class ShuffledLinear(DPLinear):
    r"""Phased elimination for linear bandits in which a trusted shuffler mixes the reports of each batch.

    Batches, core sets and estimates are those of `DPLinear`. The shuffler draws which client of a batch plays
    which action, and passes on the pairs of action and report in a fixed order of the actions: the adversary
    sees the multiset of reports of each batch. In a batch of :math:`n_i` clients a reward r is reported as
    :math:`r + Lap(2/\varepsilon_0)`,

    .. math:: \varepsilon_0 = \max\Bigl(\varepsilon,
              \min\Bigl(f_{n_i,\delta}^{-1}(\varepsilon), \log\frac{n_i}{16 \log(2/\delta)}\Bigr)\Bigr)

    with f from eq. 10 (`mechanisms.shuffle`); gamma is that of `LDPLinear` with :math:`\varepsilon_0` at
    :math:`n_i = \lceil q^i \rceil`, its least value.

    Regret: with beta = 1/T at most C (sqrt(T log T) + sqrt(log(1/delta)) log^1.5 T/epsilon) with probability
    1 - 1/T (Thm 3), proved for epsilon = O(sqrt(log(1/delta)/T)) only, where the private term is at least
    log T times the other one.

    Eq. 10 holds for eps0 <= log(n/(16 log(2/delta))) only, which the printed listing does not check. With
    ``variant="printed"``, eps0 = f^-1(epsilon) whatever its domain and Lap(1/eps0), it is not
    (epsilon, delta)-DP. Which reward stands where in the input, before the shuffler, is immaterial: rounds
    of a batch are numbered here in the order of the actions, after the shuffler has assigned the clients.

    Parameters
    ----------
    actions, horizon, beta, core
        See `DPLinear`.
    epsilon, delta
        Privacy budget of the shuffled reports of the whole run; delta in (0, 1).
    variant
        ``corrected``, or ``printed``: gamma_i = sqrt(4dL/q^i) + 2d/(q^i eps0) sqrt(n_i L), with q^i + |C|
        for n_i.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    delta: float = field(default=1e-6, kw_only=True)
    name: ClassVar[str] = "shuffled-linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.probability("delta", self.delta)

    @property
    def claim(self) -> PrivacyClaim:
        """Theorem 3; the adversary sees the shuffled reports."""
        note = (
            "with Lap(2/epsilon0), for rewards in [-1, 1], and with epsilon0 within the domain of eq. 10,"
            " or equal to epsilon"
            if self.variant == "corrected"
            else "as printed"
        )
        return PrivacyClaim(
            self.epsilon,
            self.delta,
            observe="shuffled",
            source=Source(papers.HANNA, "Theorem 3", note),
            trust_model="shuffle",
            unit=Unit.CLIENT,
        )

    def local(self, clients: int) -> float:
        """eps0 of the reports in a batch of `clients` (line 8)."""
        if self.variant == "printed":
            return shuffle.formula_inverse(self.epsilon, clients, self.delta)
        return shuffle.local_epsilon(self.epsilon, clients, self.delta)

    def crowd(self, counts: IntArray) -> IntArray:
        """Reports among which each report of batches with `counts` (n, K) is hidden, (n,).

        All of the batch: clients are assigned to actions at random (lines 14 and 15).
        """
        return np.asarray(counts.sum(axis=1))

    def width(self, batch: int, n_actions: int, n_core: int) -> float:
        """gamma_i."""
        log = math.log(4 * n_actions * self.horizon / float(self.beta or 1 / self.horizon))
        pulls = self.size(batch)
        local = self.local(math.ceil(round(pulls, 6)))
        if self.variant == "printed":
            return printed_width(pulls, pulls + n_core, self.dimension, log, local)
        return width(pulls, self.dimension, log, local)

    def release(
        self, state: LinearState, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sums of the reports of this batch, by action: what the server makes of the shuffled pairs."""
        pulls = query.pulls()
        scale = np.repeat(self.scales(pulls.sum(axis=1))[:, None], self.n_arms, axis=1)
        return memory, noise(Draw(answer, scale, state.run, *self.addresses(state, query), count=pulls))

    def scales(self, clients: IntArray) -> FloatArray:
        """Scale of the noise of a report in batches of `clients` (n,); 1 for those without any."""
        sizes, which = np.unique(clients, return_inverse=True)
        each = [self.mechanism.sensitivity / self.local(size) if size else 1.0 for size in sizes.tolist()]
        return np.array(each, dtype=np.float64)[which.reshape(-1)]
