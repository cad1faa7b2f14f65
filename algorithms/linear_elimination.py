"""Phased elimination for linear bandits without privacy (Lattimore & Szepesvári, ch. 22)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from verifiable_dp import _validate
from verifiable_dp._validate import FloatArray, InputError
from verifiable_dp.algorithm import Memory, Query
from verifiable_dp.algorithms._linear import Actions, LinearState, PhasedElimination, as_actions
from verifiable_dp.mechanisms import Exact
from verifiable_dp.noise import Noise


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

    Regret: O(sqrt(T d log(K T))) with beta = 1/T. The factor 4 d, for 2 d, pays for a design that is optimal
    up to a factor 2 only.

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
        False: every remaining action is pulled.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", as_actions(self.actions))
        _validate.integer("horizon", self.horizon, least=2)
        if self.beta is None:
            object.__setattr__(self, "beta", 1.0 / self.horizon)
        _validate.probability("beta", self.beta)
        if not isinstance(self.core, bool):
            raise InputError(f"core must be True or False, got {self.core!r}")

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

    def release(
        self, state: LinearState, memory: Any, query: Query, answer: FloatArray, noise: Noise
    ) -> tuple[Memory, FloatArray]:
        """The sums as they are."""
        slot = state.batch[:, None] * self.n_arms + np.arange(self.n_arms)
        where = query.active & query.complete[:, None]
        return memory, Exact().release(answer, noise, state.run, slot, where)
