"""LDP Robust SE: successive elimination of heavy-tailed arms from locally private reports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._robust import RobustElimination, factor_of
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.noise import Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray


@dataclass(frozen=True)
class LDPRobustSE(RobustElimination):
    r"""Successive elimination in which every user reports a truncated reward with Laplace noise.

    Epoch tau, with :math:`l = \log(8|S|\tau^2/\beta)`, pulls every arm of S

    .. math:: R_\tau = \lceil u^{2/v} (28/D_\tau)^{2(1+v)/v} l/\varepsilon^2 + l \rceil

    times; the report of a reward x is :math:`x 1\{|x| \le B_\tau\} + Lap(2B_\tau/\varepsilon)` with
    :math:`B_\tau = (u \sqrt{R_\tau}\varepsilon/\sqrt l)^{1/(1+v)}`, and arms whose mean report lies more than
    :math:`14 err_\tau` below the largest are removed.

    Corrected: :math:`D_\tau = 2^{-\tau}` and
    :math:`err_\tau = u^{1/(1+v)} (\sqrt l/(\sqrt{R_\tau}\varepsilon))^{v/(1+v)}`, as in the proof. Printed:
    :math:`D_\tau = 4^{-\tau}` and :math:`R_\tau` in place of its root in the error, which can then be smaller
    than the noise: tied arms are separated by chance.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of one report.
    horizon
        T >= K.
    v, u
        E|X|^(1+v) <= u, v in (0, 1].
    beta
        Failure probability in (0, 1); 1/T if None.
    constants
        ``proof``, or a factor on the constants 28 and 14 that keeps their ratio.
    variant
        ``corrected`` or ``printed``.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Source: Tao et al. 2022, Algorithm 4. The claims on regret hold for epsilon <= 1.
    """

    n_arms: int
    epsilon: float
    horizon: int
    v: float
    u: float
    beta: float | None = None
    constants: str | float = "proof"
    variant: str = "corrected"
    name: ClassVar[str] = "ldp-robust-se"

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.choice("variant", self.variant, ("corrected", "printed"))

    @property
    def claim(self) -> PrivacyClaim:
        """Thm 6, with the noise of the listing; the adversary sees every report."""
        return PrivacyClaim(
            self.epsilon,
            observe="reports",
            source=Source(papers.TAO, "Theorem 6", "with Lap(2B/epsilon), as in the listing"),
            trust_model="local",
        )

    def _log(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        return np.asarray(np.log(8 * size * epoch**2 / float(self.beta or 1)))

    def pulls(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """R_tau; D_tau is 4^-tau as printed."""
        base, power = 4.0 if self.variant == "printed" else 2.0, 2 * (1 + self.v) / self.v
        precision, log = 28 * factor_of(self.constants) * base**epoch, self._log(size, epoch)
        return np.asarray(np.ceil(self.u ** (2 / self.v) * precision**power * log / self.epsilon**2 + log))

    def limit(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """B_tau."""
        pulls, log = self.pulls(size, epoch), self._log(size, epoch)
        return np.asarray((self.u * np.sqrt(pulls) * self.epsilon / np.sqrt(log)) ** (1 / (1 + self.v)))

    def gap(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """14 err_tau; with R_tau for its root as printed."""
        pulls, log = self.pulls(size, epoch), self._log(size, epoch)
        root, power = pulls if self.variant == "printed" else np.sqrt(pulls), 2 * (1 + self.v) / self.v
        error = self.u ** (1 / (1 + self.v)) * (np.sqrt(log) / (root * self.epsilon)) ** (2 / power)
        return np.asarray(14 * factor_of(self.constants) * error)

    def release(
        self, state: Own, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """Sums of reports, each with its own noise."""
        mechanism = self.mechanism(state.size[:, None], state.epoch[:, None])
        reports = replace(mechanism, count=query.pulls())
        return memory, reports.release(answer, noise, state.run, *self.addresses(state, query))
