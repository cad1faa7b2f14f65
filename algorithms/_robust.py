"""What the algorithms for heavy-tailed rewards of Tao et al. share: parameters and their elimination.

Rewards have E|X|^(1+v) <= u. The proofs' constants make the first epoch longer than most horizons, so they
can be scaled by a parameter. We never change it by default.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.algorithms._elimination import Elimination
from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Query, Truncated
from verifiable_dp.core.noise import Draw, Noise
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import BoolArray, FloatArray, Given, InputError, IntArray

LINE = (-np.inf, np.inf)


def check_moments(v: Given, u: Given) -> None:
    """Refuse v outside (0, 1] and u that is not finite and positive."""
    if not validate.positive("v", v) <= 1:
        raise InputError(f"v must lie in (0, 1], got {v!r}")
    validate.positive("u", u)


def factor_of(constants: Given) -> float:
    """1 for ``proof``, else the stated factor above 0."""
    if constants == "proof":
        return 1.0
    if isinstance(constants, str):
        raise InputError(f"constants must be 'proof' or a factor greater than 0, got {constants!r}")
    return validate.positive("constants", constants)


@dataclass(frozen=True)
class TruncatedSums:
    """The Laplace mechanism for sums of rewards that are truncated at `limit`, (n, 1).

    With `count` (n, K), each of that many users adds noise to a report.
    """

    limit: FloatArray
    epsilon: float
    count: IntArray | None = None

    def release(
        self, value: FloatArray, noise: Noise, run: IntArray, slot: IntArray, where: BoolArray
    ) -> FloatArray:
        """Release `value` (n, K) with Lap(2 B/epsilon); NaN where `where` is False."""
        scale = np.broadcast_to(2 * self.limit / self.epsilon, value.shape)
        return noise(Draw(value, scale, run, slot, where, self.count))


class RobustElimination(Elimination):
    """Epochs of doubling precision on truncated rewards; a listing also sets the limit of the truncation."""

    v: float
    u: float
    epsilon: float
    beta: float | None
    constants: str | float

    def __post_init__(self) -> None:
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.positive("epsilon", self.epsilon)
        check_moments(self.v, self.u)
        factor_of(self.constants)
        validate.beta(self)

    @property
    def bounds(self) -> tuple[float, float]:
        """The real line."""
        return LINE

    @property
    def search_bounds(self) -> tuple[float, float]:
        """The truncation of the first epoch, with either sign."""
        limit = float(self.limit(np.array(float(self.n_arms)), np.array(1.0)))
        return (-limit, limit)

    @abstractmethod
    def limit(self, size: FloatArray, epoch: FloatArray) -> FloatArray:
        """B_tau: what rewards are truncated at."""

    @functools.cached_property
    def limits(self) -> FloatArray:
        """Table of B_tau, by epoch and |S|."""
        return self.table(self.limit)

    @property
    def contribution(self) -> float:
        """The largest B_tau of an epoch that can end by T."""
        ends = self.schedule[0] <= self.horizon
        return float(self.limits[ends].max(initial=0.0))

    def mechanism(self, size: IntArray, epoch: IntArray) -> TruncatedSums:
        """One reward moves one sum by at most 2 B_tau."""
        return TruncatedSums(self.limits[epoch, size], self.epsilon)

    def query(self, state: Own) -> Query:
        """One epoch; its answer is truncated sums."""
        limit = np.broadcast_to(self.limits[state.epoch, state.size][:, None], state.active.shape)
        return replace(super().query(state), ask=Truncated(limit, np.zeros(limit.shape)))
