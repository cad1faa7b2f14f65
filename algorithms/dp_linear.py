"""DP linear bandit, central model (Hanna, Girgis, Fragouli & Diggavi 2022, Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._linear import Actions, PhasedElimination, netted
from verifiable_dp.core import validate
from verifiable_dp.core.claims import PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.validate import BoolArray

VARIANTS = ("corrected", "printed")


def growth(horizon: int) -> float:
    """q = (2T)^(1/log T), between e and e^2 (line 3 of Algorithm 1)."""
    return float((2 * horizon) ** (1 / math.log(horizon)))


def batches(horizon: int) -> int:
    """Number of batches, floor(log T) - 1 (line 4)."""
    return math.floor(math.log(horizon)) - 1


def width(
    pulls: float,
    dimension: int,
    n_actions: int,
    n_core: int,
    *,
    scale: float,
    horizon: int,
    beta: float,
) -> float:
    """gamma of a batch of q^i = `pulls` (line 5), with B d the size of the core set.

    The scale of the noise is printed as 1/epsilon, and 4 |A| T / beta at beta = 1/T as 4 |A| T^2.
    """
    d, log = dimension, math.log(4 * n_actions * horizon / beta)
    return math.sqrt(4 * d * log / pulls) + scale * 2 * d * (n_core + log) / pulls


@dataclass(frozen=True)
class DPLinear(PhasedElimination):
    r"""Private phased elimination for linear bandits, with noise on the sums of a small core set.

    It begins with a 1/T-net of the actions (line 2). Batch i = 1 .. floor(log T) - 1, with
    :math:`q = (2T)^{1/\log T}`, finds a core set of the remaining
    actions and its G-optimal weights pi, pulls action a of it :math:`n_a = \lceil \pi(a) q^i \rceil` times,
    releases the sum of its rewards with :math:`Lap(2/\varepsilon)`, estimates

    .. math:: \hat\theta = V^{+} \sum_a \hat r_a a, \quad V = \sum_a n_a a a^T,

    and removes the actions whose estimates lie more than :math:`2\gamma_i` below the largest,

    .. math:: \gamma_i = \sqrt{\frac{4d}{q^i} \log\frac{4|A_i|T}{\beta}}
              + 2 \cdot \frac{2d|C_i| + 2d \log(4|A_i|T/\beta)}{\varepsilon q^i}.

    Then the action with the largest estimate plays on to T.

    Regret: with beta = 1/T at most C (sqrt(T log T) + log^2 T/epsilon) with probability 1 - 1/T (Thm 1).

    The bound is empty if T is so short that 2 gamma exceeds all gaps in every batch: then nothing is removed.
    The printed listing assumes that a reward changes by at most 1, but it can go from -1 to 1: with
    ``variant="printed"``, Lap(1/epsilon) and the epsilon-terms of gamma halved, it is 2 epsilon-DP. Besides,
    the batches may exceed T (for example at T = 2990), so the last one is cut short; line 10 takes its
    maximum over the remaining actions; the constant B is not printed, and B d is the size of the core set
    here.

    Parameters
    ----------
    actions
        K >= 2 vectors of norm at most 1. Of actions within 1/T of one another, only one is played. For a
        continuous set, give some of its points (`_design.net` thins out any enumeration); its own 1/T-net has
        about (3T)^d points.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= 8, which allows for one batch.
    beta
        Failure probability in (0, 1); 1/T if None, as printed.
    variant
        ``corrected`` or ``printed``.
    core
        Whether to pull only a core set. If False, every remaining action is pulled and gets noise
                (the paper's ablation); the paper does not print the weights, so we use Frank-Wolfe from equal
                weights.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    actions: Actions
    epsilon: float
    horizon: int
    beta: float | None = None
    variant: str = "corrected"
    core: bool = True
    name: ClassVar[str] = "dp-linear"
    least_horizon: ClassVar[int] = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.positive("epsilon", self.epsilon)
        validate.choice("variant", self.variant, VARIANTS)

    @property
    def claim(self) -> PrivacyClaim:
        """Theorem 1; the proof covers every noisy sum."""
        note = "with Lap(2/epsilon), for rewards in [-1, 1]" if self.variant == "corrected" else "as printed"
        return PrivacyClaim(self.epsilon, observe="releases", source=Source(papers.HANNA, "Theorem 1", note))

    @property
    def mechanism(self) -> Laplace:
        """Mechanism for the sum of one action in one batch, which one reward changes by at most 2."""
        return Laplace(2.0 if self.variant == "corrected" else 1.0, self.epsilon)

    @property
    def first(self) -> BoolArray:
        """A 1/T-net of the actions (line 2), which costs a regret of at most 1."""
        return np.frombuffer(netted(self.actions, 1 / self.horizon), dtype=bool)

    @property
    def last_batch(self) -> int:
        """floor(log T) - 1."""
        return batches(self.horizon)

    def size(self, batch: int) -> float:
        """q^i."""
        return growth(self.horizon) ** batch

    def width(self, batch: int, n_actions: int, n_core: int) -> float:
        """gamma_i."""
        return width(
            self.size(batch),
            self.dimension,
            n_actions,
            n_core,
            scale=self.mechanism.scale,
            horizon=self.horizon,
            beta=float(self.beta or 1 / self.horizon),
        )
