"""Contexts: what a bandit is told of a user before it chooses, and how they travel with the rewards.

Contexts and rewards of a run are held in one table (T, K + entries of a context): rewards come first. A
bandit's code is handed both apart, see `Contexts.split`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.validate import FloatArray, InputError

_SLACK = 1e-9  # relative; norms are computed


@dataclass(frozen=True)
class Contexts:
    """The form of the contexts of a bandit.

    Parameters
    ----------
    n_arms
        K.
    shape
        ``(d,)``: a round has one context; ``(K, d)``: one for each arm.
    norm
        Largest Euclidean norm of a context.
    bounds
        Range of the rewards.

    Raises
    ------
    InputError
        If one is out of range, or the shape is not of K arms.
    """

    n_arms: int
    shape: tuple[int, ...]
    norm: float = 1.0
    bounds: tuple[float, float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        validate.integer("n_arms", self.n_arms, least=1)
        shape = shape_of(self.shape)
        if len(shape) == 2 and shape[0] != self.n_arms:
            raise InputError(
                f"contexts must be D, or {self.n_arms}xD with a context for each of {self.n_arms} arms, got "
                f"{words_of(shape)}"
            )
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "norm", validate.positive("context_norm", self.norm))
        object.__setattr__(self, "bounds", validate.bounds("bounds", self.bounds))

    @property
    def dimension(self) -> int:
        """Number of entries of a vector, d."""
        return self.shape[-1]

    @property
    def width(self) -> int:
        """Columns of a table."""
        return self.n_arms + int(np.prod(self.shape))

    def table(self, contexts: Any, rewards: Any) -> FloatArray:
        """Contexts (T, …) and rewards (T, K) as one table.

        Raises
        ------
        InputError
            If their shapes do not fit, or an entry is out of range.
        """
        paid = validate.rewards("rewards", rewards, self.bounds, ndim=2)
        given = np.array(contexts, dtype=np.float64)
        if paid.shape[1] != self.n_arms:
            raise InputError(f"rewards must have {self.n_arms} columns, got {paid.shape[1]}")
        if given.shape != (len(paid), *self.shape):
            raise InputError(f"contexts must have shape {(len(paid), *self.shape)}, got {given.shape}")
        most = float(np.linalg.norm(given, axis=-1).max(initial=0.0))
        if not most <= self.norm * (1 + _SLACK):  # also if it is NaN
            raise InputError(f"contexts must have a norm of at most {self.norm:g}, got {most:g}")
        return np.hstack([paid, given.reshape(len(given), -1)])

    def split(self, table: Any) -> tuple[Any, Any]:
        """Contexts (T, …) and rewards (T, K) of a table, or of some of its rounds; tracked tables stay so."""
        contexts = table[:, self.n_arms :]
        return contexts.reshape(len(table), *self.shape), table[:, : self.n_arms]

    def unit(self, axis: int) -> FloatArray:
        """A longest context along an axis; with one for each arm they point along different ones."""
        if len(self.shape) == 1:
            return np.array(self.norm * np.eye(self.dimension)[axis % self.dimension])
        axes = (np.arange(self.n_arms) + axis) % self.dimension
        return np.array(self.norm * np.eye(self.dimension)[axes])

    def even(self) -> FloatArray:
        """A longest context all of whose entries are equal: that whose products add up to most."""
        # Shorter by a rounding: the norm is computed.
        return np.full(self.shape, (1 - _SLACK) * self.norm / self.dimension**0.5)

    def apart(self, context: FloatArray) -> FloatArray:
        """A context that is far from this one: that of the arms in reverse order, or along other axes."""
        if len(self.shape) == 2 and (context != context[::-1]).any():
            return np.array(context[::-1])
        if self.dimension == 1 or len(self.shape) == 2:
            return np.array(-context)
        return np.roll(context, 1, axis=-1)


def shape_of(given: Any) -> tuple[int, ...]:
    """``(d,)`` or ``(K, d)`` from a number, two numbers, or a text such as ``5`` or ``10x5``.

    Raises
    ------
    InputError
        If it is none of these.
    """
    parts: Any = given
    if isinstance(given, str):
        parts = given.split("x") if re.fullmatch(r"\d{1,6}(x\d{1,6})?", given.strip()) else None
        parts = None if parts is None else [int(part) for part in parts]
    elif not isinstance(given, Sequence):
        parts = [given]
    if parts is None or len(parts) not in (1, 2):
        raise InputError(
            f"contexts must be a dimension such as 5, or arms and dimension such as 10x5, got {given!r}"
        )
    return tuple(validate.integer("contexts", part, least=1) for part in parts)


def words_of(shape: Sequence[int]) -> str:
    """As it is typed."""
    return "x".join(str(part) for part in shape)
