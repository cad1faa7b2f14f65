"""AdaC-GOPE: phased elimination with normal noise, under zCDP (after Azize & Basu 2024)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._design import core_limit
from verifiable_dp.algorithms._linear import Actions, PhasedElimination
from verifiable_dp.core import validate
from verifiable_dp.core.claims import STATED_DELTA, Basis, PrivacyClaim, Source
from verifiable_dp.core.mechanisms import Gaussian


@dataclass(frozen=True)
class AdaCGOPE(PhasedElimination):
    r"""Phases pull a core set, get normal noise on its sums, and forget what came before.

    Phase l finds weights pi on a core set C of the remaining actions with
    :math:`\max \|a\|^2_{V(\pi)^{-1}} \le 2d`, pulls action a of it :math:`\lceil \pi(a)\, 2d/y_l \rceil`
    times, releases the sums with normal noise of variance :math:`2/\rho`, estimates theta by least squares
    on this phase alone, and removes the actions whose estimates lie more than :math:`2 w_l` below the best,

    .. math:: w_l = \sqrt{2 L_l (y_l + (2/\rho) |C| y_l^2)}, \quad L_l = \log\frac{2 K l (l+1)}{\beta}.

    Rewards in [-1, 1] make an error of :math:`\langle a, \hat\theta \rangle` that is sub-Gaussian with
    variance :math:`\|a\|^2_{V^{-1}} \le y_l`, and the noise one of variance
    :math:`(2/\rho) \sum_{c \in C} (a^T V^{-1} c)^2`, whose terms are at most :math:`y_l^2` each. So all
    estimates of all phases are right up to w_l with probability 1 - beta. y_l is such that w_l is 2^-l if C
    has c = min(K, 4 d log log d + 16) actions:

    .. math:: \frac{2d}{y_l} = 2 d L_l 4^l \left(1 + \sqrt{1 + \frac{4 c}{\rho 4^l L_l}}\right).

    Regret: with beta = 1/T, O(sqrt(T d log(K T)) + d sqrt(d log log d log(K T)/rho) log T), d > 2. The
    bound is empty if T times the largest gap is smaller.

    Parameters
    ----------
    actions
        K >= 2 vectors of norm at most 1.
    rho
        Privacy budget of the whole run in zCDP, event level.
    horizon
        T >= 2.
    delta
        The delta at which the epsilon of the promise is stated, in (0, 1).
    beta
        Failure probability in (0, 1); 1/T if None.
    core
        Whether to pull only a core set; if False, every remaining action is pulled.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    Written from the paper's abstract: the Gaussian mechanism on episodes, for linear bandits. The
    lengths of phases and the widths are derived here; we do not know those of the paper. Live sessions with
    secure noise refuse it, because that noise is Laplace noise.
    """

    actions: Actions
    rho: float
    horizon: int
    delta: float = STATED_DELTA
    beta: float | None = None
    core: bool = True
    name: ClassVar[str] = "adac-gope"

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.positive("rho", self.rho)
        validate.probability("delta", self.delta)

    @property
    def claim(self) -> PrivacyClaim:
        """A reward enters the sum of one action in one phase; the proof covers every noisy sum."""
        note = (
            "theorem's number unknown; each reward is in one release with normal noise, so mu is sqrt(2 rho)"
        )
        source = Source(papers.AZIZE_ZCDP, "AdaC-GOPE", note, Basis.UNREAD)
        return PrivacyClaim.normal(self.rho, self.delta, observe="releases", source=source)

    @property
    def mechanism(self) -> Gaussian:
        """Mechanism for the sum of one action in one phase, which one reward changes by at most 2."""
        return Gaussian(2.0, self.rho)

    @property
    def last_batch(self) -> int:
        """No phase is longer than T: that of phase l is above 2 d 4^l."""
        return max(1, int(math.log(self.horizon / (2 * self.dimension), 4)))

    def log(self, batch: int) -> float:
        """L_l; K counts all actions, so the failures of all phases add up to beta."""
        return math.log(2 * self.n_arms * batch * (batch + 1) / float(self.beta or 1 / self.horizon))

    def size(self, batch: int) -> float:
        """2 d/y_l."""
        least = 2 * self.dimension * self.log(batch) * 4.0**batch
        core = min(self.n_arms, core_limit(self.dimension)) if self.core else self.n_arms
        return least * (1 + math.sqrt(1 + 4 * core / (self.rho * 4.0**batch * self.log(batch))))

    def width(self, batch: int, n_actions: int, n_core: int) -> float:
        """w_l."""
        y = 2 * self.dimension / self.size(batch)
        return math.sqrt(2 * self.log(batch) * (y + 2 / self.rho * n_core * y**2))
