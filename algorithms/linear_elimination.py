"""Phased elimination for linear bandits without privacy (Lattimore & Szepesvári, ch. 22)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from verifiable_dp.algorithms._linear import Actions, PhasedElimination
from verifiable_dp.core.mechanisms import Exact


def pulls(phase: int, dimension: int, n_actions: int, beta: float) -> float:
    """(4 d / w^2) log(K l (l + 1) / beta), w = 2^-l: estimates of phase l are right up to w."""
    return 4 * dimension * 4.0**phase * math.log(n_actions * phase * (phase + 1) / beta)


@dataclass(frozen=True)
class LinearElimination(PhasedElimination):
    r"""Phased elimination with G-optimal exploration.

    Phase l finds weights pi on a core set of the remaining actions with
    :math:`\max \|a\|^2_{V(\pi)^{-1}} \le 2d`, pulls action a of it
    :math:`\lceil \pi(a) \frac{4d}{4^{-l}} \log\frac{K l (l+1)}{\beta} \rceil` times, estimates theta by least
    squares on this phase alone, and removes the actions whose estimates lie more than :math:`2 \cdot 2^{-l}`
    below the largest.

    Regret: O(sqrt(T d log(K T))) with beta = 1/T. The factor is 4 d instead of 2 d, because the design is
    optimal only up to a factor 2.

    It makes no privacy promise: every action is a function of raw rewards.

    Parameters
    ----------
    actions
        K >= 2 vectors of norm at most 1.
    horizon
        T >= 2.
    beta
        Failure probability in (0, 1); 1/T if None.
    core
        Whether to pull only a core set; if False, every remaining action is pulled.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    actions: Actions
    horizon: int
    beta: float | None = None
    core: bool = True
    name: ClassVar[str] = "linear-elimination"

    @property
    def last_batch(self) -> int:
        """None comes after the horizon."""
        return self.horizon

    def size(self, batch: int) -> float:
        """Pulls of a phase."""
        return pulls(batch, self.dimension, self.n_arms, float(self.beta or 1 / self.horizon))

    def width(self, batch: int, n_actions: int, n_core: int) -> float:
        """2^-l."""
        return 2.0**-batch

    @property
    def mechanism(self) -> Exact:
        """Sums are released without noise."""
        return Exact()
