"""AdaP-UCB: UCB on noisy means of doubling episodes (Azize & Basu 2022, Algorithm 1 with index (7))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms._episodes import Episodes
from verifiable_dp.core import validate
from verifiable_dp.core.claims import Source
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray, InputError


@dataclass(frozen=True)
class AdaPUCB(Episodes):
    r"""Play the arm with the largest index until its pulls have doubled; forget what came before.

    With n_a the length of the arm's last episode and t the first round of the next one, the index is

    .. math:: \tilde\mu_a + \sqrt{\frac{\alpha \log(2t)}{2 n_a}} + \frac{\alpha \log t}{\varepsilon n_a},

    where :math:`\tilde\mu_a` is the mean of that episode alone with :math:`Lap(1/(\varepsilon n_a))`.

    Regret: at most :math:`\sum_a 16 \alpha \log T/\min(\Delta_a, \varepsilon) + \alpha/(\alpha - 3)` for
    alpha > 3 (Theorem 7). The bound is empty if T times the gap is smaller.

    Parameters
    ----------
    n_arms
        K >= 2.
    epsilon
        Privacy budget of the whole run, event level.
    horizon
        T >= K; decisions do not depend on it.
    alpha
        Above 3; the paper's experiments have 3.1.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    The listing's formulas have half the pulls for n_a. That is 1/2 after the first pull of an arm; here it
    is 1, the number of rewards in the mean.
    """

    n_arms: int
    epsilon: float
    horizon: int
    alpha: float = 3.1
    name: ClassVar[str] = "adap-ucb"
    statement: ClassVar[Source] = Source(papers.AZIZE, "Theorem 6")

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        if not validate.positive("alpha", self.alpha) > 3:
            raise InputError(f"alpha must be greater than 3, got {self.alpha!r}")

    def index(self, state: Own) -> FloatArray:
        """Upper confidence bounds (7)."""
        return np.asarray(state.estimate + self.width(state))

    def width(self, state: Own) -> FloatArray:
        """How far a noisy mean may lie below its arm's, (n, K)."""
        n, t = self.last(state), (state.t + 1.0)[:, None]
        return np.asarray(
            np.sqrt(self.alpha * np.log(2 * t) / (2 * n)) + self.alpha * np.log(t) / (self.epsilon * n)
        )
