"""What the algorithms for heavy-tailed rewards of Tao et al. share: parameters and their elimination.

Rewards have E|X|^(1+v) <= u. The proofs' constants make the first epoch longer than most horizons, so a
factor on them is a parameter; it never changes without being asked to.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from verifiable_dp import _validate
from verifiable_dp._validate import FloatArray, InputError, IntArray
from verifiable_dp.algorithm import Query, Truncated
from verifiable_dp.algorithms._elimination import Elimination, EliminationState

LINE = (-np.inf, np.inf)


def check_moments(v: Any, u: Any) -> None:
    """Refuse v outside (0, 1] and u that is not finite and positive."""
    if not _validate.positive("v", v) <= 1:
        raise InputError(f"v must lie in (0, 1], got {v!r}")
    _validate.positive("u", u)


def factor_of(constants: Any) -> float:
    """1 for ``proof``, else the stated factor above 0."""
    if constants == "proof":
        return 1.0
    if isinstance(constants, str):
        raise InputError(f"constants must be 'proof' or a factor greater than 0, got {constants!r}")
    return _validate.positive("constants", constants)


class RobustElimination(Elimination):
    """Epochs of doubling precision D_tau on truncated rewards; subclasses give lengths and thresholds."""

    v: float
    u: float
    epsilon: float
    beta: float | None
    constants: str | float

    def __post_init__(self) -> None:
        _validate.arms_and_horizon(self.n_arms, self.horizon)
        _validate.positive("epsilon", self.epsilon)
        check_moments(self.v, self.u)
        factor_of(self.constants)
        if self.beta is None:
            object.__setattr__(self, "beta", 1.0 / self.horizon)
        _validate.probability("beta", self.beta)

    @property
    def bounds(self) -> tuple[float, float]:
        """The real line."""
        return LINE

    @property
    def search_bounds(self) -> tuple[float, float]:
        """The truncation of the first epoch, either sign."""
        limit = float(self.schedule[1][1, self.n_arms])
        return (-limit, limit)

    @abstractmethod
    def epochs(self, size: FloatArray, epoch: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pulls R, truncation B and threshold of the gap, for |S| and tau (they broadcast)."""

    @functools.cached_property
    def schedule(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Pulls, truncation and threshold, (epochs, K + 1) each, by epoch and |S|."""
        # Row 0 and column 0 stand for nothing; they repeat their neighbours. Epochs at least double.
        epoch = np.maximum(np.arange(3 + int(np.log2(self.horizon))), 1.0)[:, None]
        size = np.maximum(np.arange(self.n_arms + 1), 1.0)[None, :]
        with np.errstate(over="ignore"):
            pulls, limit, threshold = np.broadcast_arrays(*self.epochs(size, epoch))
        most = 2.0**62 // self.n_arms  # whole numbers end there
        return np.minimum(pulls, most).astype(np.int64), limit, threshold

    def epoch_length(self, state: EliminationState) -> IntArray:
        """R_tau."""
        return self.schedule[0][state.epoch, state.size]

    def limit(self, state: EliminationState) -> FloatArray:
        """B_tau, (n,)."""
        return np.asarray(self.schedule[1][state.epoch, state.size])

    def query(self, state: EliminationState) -> Query:
        """One epoch, of which truncated sums are asked."""
        limit = np.broadcast_to(self.limit(state)[:, None], state.active.shape)
        return replace(super().query(state), ask=Truncated(limit, np.zeros(limit.shape)))

    def margin(self, state: EliminationState) -> FloatArray:
        """The threshold of means, for sums."""
        return np.asarray(self.schedule[2][state.epoch, state.size] * self.epoch_length(state))
