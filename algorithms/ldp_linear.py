"""DP linear bandit, local model (Hanna, Girgis, Fragouli & Diggavi 2022, Algorithm 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._linear import LinearState
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray


def printed_width(pulls: float, rounds: float, dimension: int, log: float, epsilon: float) -> float:
    """gamma of a batch of q^i = `pulls` and n_i = `rounds` (line 12), log = log(4 |A| T^2)."""
    noise = 2 * dimension / (pulls * epsilon) * math.sqrt(rounds * log)
    return math.sqrt(4 * dimension * log / pulls) + noise


def width(pulls: float, dimension: int, log: float, epsilon: float) -> float:
    """gamma that the noise keeps: Laplace noise of scale s in sum l_j z_j adds s sqrt(8 log max(Q, l^2 log)).

    Q = sum l_j^2 = |a|^2_(V^-1) <= 2d/q^i and l = max |l_j| <= 2d/q^i; two-sided, with probability
    1 - 2 exp(-log). From the moment generating function 1/(1 - y) <= exp(2 y) of a Laplace draw, y <= 1/2.
    """
    norm = 2 * dimension / pulls
    return math.sqrt(2 * norm * log) + 2 / epsilon * math.sqrt(8 * log * max(norm, norm**2 * log))


@dataclass(frozen=True)
class LDPLinear(DPLinear):
    r"""Phased elimination for linear bandits in which every user reports a reward with Laplace noise.

    Batches, core sets and estimates are those of `DPLinear`; the report of a reward r is
    :math:`r + Lap(2/\varepsilon)`, and with :math:`L = \log(4|A_i|T/\beta)`

    .. math:: \gamma_i = \sqrt{4dL/q^i} + \frac{2}{\varepsilon}\sqrt{8L \max(2d/q^i, (2d/q^i)^2 L)}.

    Regret: with beta = 1/T at most C (1 + 1/epsilon) d sqrt(T log T) with probability 1 - 1/T (Thm 2, which
    prints d sqrt(d T log T); sum n_a (a' V^-1 b)^2 = |b|^2_(V^-1) saves the root of d).

    The bound is empty if T is so short that 2 gamma exceeds all gaps in every batch. As printed, with
    Lap(1/epsilon), a report is 2 epsilon-LDP, and gamma rests on Lemma 4, which is false.

    Parameters
    ----------
    actions, horizon, beta, core
        See `DPLinear`.
    epsilon
        Privacy budget of one report.
    variant
        ``corrected``, or ``printed``: gamma_i = sqrt(4dL/q^i) + 2d/(q^i epsilon) sqrt(n_i L), with q^i + |C|
        for n_i.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    name: ClassVar[str] = "ldp-linear"

    @property
    def claim(self) -> PrivacyClaim:
        """Theorem 2; the adversary sees every report."""
        note = "with Lap(2/epsilon), for rewards in [-1, 1]" if self.variant == "corrected" else "as printed"
        source = Source(papers.HANNA, "Theorem 2", note)
        return PrivacyClaim(self.epsilon, observe="reports", source=source, trust_model="local")

    def width(self, batch: int, n_actions: int, n_core: int) -> float:
        """gamma_i."""
        log = math.log(4 * n_actions * self.horizon / float(self.beta or 1 / self.horizon))
        pulls = self.size(batch)
        if self.variant == "printed":
            return printed_width(pulls, pulls + n_core, self.dimension, log, self.epsilon)
        return width(pulls, self.dimension, log, self.epsilon)

    def release(
        self, state: LinearState, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sums of the reports of this batch, by action."""
        scale = np.full(answer.shape, self.mechanism.scale)
        return memory, noise(
            Draw(answer, scale, state.run, *self.addresses(state, query), count=query.pulls())
        )
