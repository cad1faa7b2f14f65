"""DP exponential NAS: checks at powers of two (Sajed & Sheffet 2019, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.dp_nas import DPNAS
from verifiable_dp.core.claims import PrivacyClaim, Source


@dataclass(frozen=True)
class DPExponentialNAS(DPNAS):
    r"""DP-NAS that compares only after 2^k samples, k = 1, 2, …

    t is replaced by the number k of the check in the logarithms:
    :math:`h_t = R\sqrt{(2/t)\log(16k^2/\beta)}` and :math:`\sigma_2\log(8k^2/\beta)` in c_t.

    It is (alpha, beta)-correct (Cor 3.2) and halts by 2000 (t_0 + t_1 + t_2) with probability 1 - beta for
    beta <= .08 and mu != 0 (Thm 3.3). The theorem's t_0 and t_1 turn non-positive as R/(alpha |mu|)
    approaches 1; there log(R/(alpha |mu|)) is read as log(max(e, R/(alpha |mu|))).

    Parameters
    ----------
    epsilon, alpha, beta, horizon, radius
        See `DPNAS`.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    name: ClassVar[str] = "dp-exponential-nas"

    @property
    def exponential(self) -> bool:
        """Checks at powers of two."""
        return True

    @property
    def claim(self) -> PrivacyClaim:
        """Cor 3.2."""
        return PrivacyClaim(self.epsilon, source=Source(papers.S1, "Corollary 3.2"))
