"""LinUCB with a context for each arm, without privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms.contextual._regression import Regressed, Regression
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Memory, Query
from verifiable_dp.core.mechanisms import Exact
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray


@dataclass(frozen=True)
class LinUCBContextual(Regression):
    r"""Take the arm with the largest upper confidence bound of one ridge regression on all contexts.

    With :math:`V = \lambda I + \sum x_s x_s^T` over the contexts of the arms that were taken, the index of an
    arm with context x is

    .. math:: x^T V^{-1} \sum r_s x_s + \|x\|_{V^{-1}} \Bigl(\tfrac12 \sqrt{2 \log\frac1\alpha
              + \log\frac{\det V}{\det \lambda I}} + \sqrt\lambda\Bigr);

    rewards lie in [0, 1], so their noise is 1/2-sub-Gaussian, and the true parameter has a norm of at
    most 1. Contexts that are longer than `norm` are clipped. It makes no privacy promise: all others' actions
    follow from raw contexts and rewards.

    Regret: with probability 1 - alpha the true parameter lies in all ellipsoids (Theorem 2 of Abbasi-Yadkori,
    Pál & Szepesvári 2011).

    Parameters
    ----------
    n_arms
        K >= 2.
    dimension
        d >= 1, of the context of an arm.
    horizon
        T >= K.
    norm
        Largest norm of a context, above 0.
    ridge
        lambda > 0.
    alpha
        Failure probability in (0, 1); 1/T if None.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    n_arms: int
    dimension: int
    horizon: int
    norm: float = 1.0
    ridge: float = 1.0
    alpha: float | None = None
    name: ClassVar[str] = "lin-ucb-contextual"

    def __post_init__(self) -> None:
        self.check()
        validate.positive("ridge", self.ridge)

    def ellipsoid(self, log_det: FloatArray) -> FloatArray:
        """See the formula of the class."""
        return self.of_rewards(log_det, float(self.alpha or 1))

    def release(
        self, state: Regressed, memory: Own, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """The item, without noise."""
        slot = (np.arange(answer.shape[1], dtype=np.int64) << SLOT_BITS) | (state.t[:, None] + 1)
        return memory, Exact().release(answer, noise, state.run, slot, np.ones(answer.shape, bool))
