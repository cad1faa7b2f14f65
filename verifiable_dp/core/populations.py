"""Populations of users with contexts: where the contexts and rewards of a contextual bandit come from.

A population draws the users of a run: their contexts, what each arm would pay them, and the true means.
Regret is measured against the true parameter (the best arm for each user) or against the best policy in
hindsight.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from verifiable_dp.core import validate
from verifiable_dp.core.contexts import Contexts
from verifiable_dp.core.validate import FloatArray, Given, InputError, IntArray

LAWS = ("sphere", "ball", "positive", "intercept")
USUAL = ("linear", "logistic", "types", "misleading")
ORDERS = ("by_best_arm", "misleading", "by_direction")
_RIVALS = 30  # parameters whose greedy rules are compared in hindsight, beside the true one
_ROUNDING = 1e-9  # norms and means are computed


class Users(NamedTuple):
    """The users of one run.

    Attributes
    ----------
    contexts : (T, d) or (T, K, d) float
        One context for all arms, or one for each.
    rewards : (T, K) float
        What each arm pays if it is played.
    means : (T, K) float
        Means of the rewards, given the contexts.
    """

    contexts: FloatArray
    rewards: FloatArray
    means: FloatArray

    @property
    def best(self) -> IntArray:
        """The arm of largest mean for each user, (T,)."""
        return np.asarray(self.means.argmax(axis=1), dtype=np.int64)

    @property
    def gaps(self) -> FloatArray:
        """How far the mean of each arm lies below the best one of the same user, (T, K)."""
        return np.asarray(self.means.max(axis=1, keepdims=True) - self.means)

    def regret(self, actions: npt.ArrayLike) -> FloatArray:
        """Pseudo-regret against the true parameter after each round, (T,)."""
        return np.cumsum(self.gaps[np.arange(len(self.means)), _arms(actions, self.means.shape)])

    def paid(self, actions: npt.ArrayLike) -> float:
        """Sum of the rewards that the actions (T,) earn."""
        return float(self.rewards[np.arange(len(self.means)), _arms(actions, self.means.shape)].sum())


def _arms(actions: npt.ArrayLike, shape: tuple[int, ...]) -> IntArray:
    arms = np.asarray(actions)
    if arms.shape != shape[:1] or arms.dtype.kind not in "iu":
        raise InputError(
            f"actions must be {shape[0]} whole numbers, got shape {arms.shape}, dtype {arms.dtype}"
        )
    if arms.size and not (arms.min() >= 0 and arms.max() < shape[1]):
        raise InputError(
            f"actions must lie in 0 .. {shape[1] - 1}, got values in [{arms.min()}, {arms.max()}]"
        )
    return arms.astype(np.int64)


class Population(ABC):
    """Base class of populations; each sets `n_arms`, `shape`, `bounds`, `name`, `spread` and these methods.

    Attributes
    ----------
    n_arms : int
        K.
    shape : (d,) or (K, d)
        Of one user's context.
    bounds : (float, float)
        Range of the rewards.
    spread : float
        No gap between two arms is larger.
    """

    n_arms: int
    shape: tuple[int, ...]
    bounds: tuple[float, float]
    name: str
    spread: float

    @property
    def form(self) -> Contexts:
        """Form of the contexts, whose norms are at most 1."""
        return Contexts(self.n_arms, self.shape, 1.0, self.bounds)

    @abstractmethod
    def contexts(self, rng: np.random.Generator, horizon: int) -> FloatArray:
        """Contexts (T, …) of as many users."""

    @abstractmethod
    def means(self, contexts: FloatArray) -> FloatArray:
        """Means (T, K) of users with these contexts (T, …)."""

    @abstractmethod
    def hindsight(self, users: Users) -> float:
        """Sum of the rewards of the policy that earns most from these users."""

    def draw(self, rng: np.random.Generator, horizon: int) -> Users:
        """The users of a run of `horizon` rounds."""
        contexts = self.contexts(rng, horizon)
        means, (low, high) = self.means(contexts), self.bounds
        hit = rng.random(means.shape) < (means - low) / (high - low)
        return Users(contexts, np.where(hit, high, low), means)

    def regret(self, users: Users, actions: npt.ArrayLike) -> float:
        """What a check of regret measures of a run: pseudo-regret against the true parameter."""
        return float(users.regret(actions)[-1])

    def hindsight_regret(self, users: Users, actions: npt.ArrayLike) -> float:
        """What the best policy in hindsight earns more than the actions (T,); it may be negative."""
        return self.hindsight(users) - users.paid(actions)

    def uniform_regret(self, horizon: int) -> float:
        """Pseudo-regret of uniform play, to about 1 %: the mean of 4096 users, always the same ones."""
        users = self.draw(np.random.default_rng(0), 4096)
        return float(users.gaps.mean()) * horizon


@dataclass(frozen=True)
class _Scored(Population):
    """Means that follow from scores: products of contexts and true parameters."""

    theta: tuple[float, ...] | tuple[tuple[float, ...], ...]
    arms: int | None = None
    law: str = "sphere"
    bounds: tuple[float, float] = (-1.0, 1.0)
    name: str = ""
    n_arms: int = field(init=False, repr=False)
    shape: tuple[int, ...] = field(init=False, repr=False)
    spread: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        theta = _array("theta", self.theta, dims=(1, 2))
        validate.choice("law", self.law, LAWS)
        if np.linalg.norm(theta, axis=-1).max() > 1 + _ROUNDING:
            raise InputError(
                f"theta must have a norm of at most 1, got {np.linalg.norm(theta, axis=-1).max():g}"
            )
        if self.law == "intercept" and theta.shape[-1] < 2:
            raise InputError("law: contexts with an intercept must have a dimension of at least 2, got 1")
        if (self.arms is None) != (theta.ndim == 2):
            raise InputError("arms must be given if all arms share a theta of shape (d,), and only then")
        arms = validate.integer("arms", len(theta) if self.arms is None else self.arms, least=2)
        ends = [self._mean(np.array(_extremes(row, self.law))) for row in np.atleast_2d(theta)]
        least, most = min(end[0] for end in ends), max(end[1] for end in ends)
        bounds = validate.bounds("bounds", self.bounds)
        if not bounds[0] - _ROUNDING <= least <= most <= bounds[1] + _ROUNDING:
            raise InputError(
                f"theta: means must lie within the bounds [{bounds[0]:g}, {bounds[1]:g}], got "
                f'[{least:g}, {most:g}]; the law "intercept" gives means above 0, and so does "positive" if '
                "theta has no negative entry"
            )
        shape = theta.shape[1:] if theta.ndim == 2 else (arms, len(theta))
        found = {"theta": _tuples(theta.tolist()), "n_arms": arms, "shape": shape, "bounds": bounds}
        for key, value in found.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "spread", float(most - least))

    def _mean(self, scores: FloatArray) -> FloatArray:
        return scores

    def contexts(self, rng: np.random.Generator, horizon: int) -> FloatArray:
        """Contexts of the law, (T, d) or (T, K, d)."""
        last = self.law == "intercept"
        shape = (*self.shape[:-1], self.shape[-1] - last)
        drawn = rng.standard_normal((horizon, *shape))
        drawn /= np.linalg.norm(drawn, axis=-1, keepdims=True)
        if self.law == "positive":
            return np.abs(drawn)
        if self.law == "ball":
            return np.asarray(drawn * rng.random(drawn.shape[:-1])[..., None] ** (1 / shape[-1]))
        if last:
            return np.concatenate([drawn, np.ones((*drawn.shape[:-1], 1))], axis=-1) / 2**0.5
        return drawn

    def means(self, contexts: FloatArray) -> FloatArray:
        """See `Population.means`."""
        return np.clip(self._mean(_scores(contexts, np.array(self.theta))), *self.bounds)

    def policies(self, contexts: FloatArray) -> IntArray:
        """Arms (P, T) of the policies that are compared in hindsight.

        They are every fixed arm, and the greedy rules of the true parameter and of 30 others.
        """
        theta = np.array(self.theta)
        others = np.random.default_rng(0).standard_normal((_RIVALS, *theta.shape))
        fixed = np.repeat(np.arange(self.n_arms)[:, None], len(contexts), axis=1)
        return np.vstack([fixed, *(_scores(contexts, one).argmax(axis=1) for one in (theta, *others))])

    def hindsight(self, users: Users) -> float:
        """Sum of the rewards of the best of `policies` for these users."""
        chosen = self.policies(users.contexts)
        return float(users.rewards[np.arange(len(users.rewards)), chosen].sum(axis=1).max())


def _scores(contexts: FloatArray, theta: FloatArray) -> FloatArray:
    """(T, K), from contexts for each arm and one parameter, or the other way round."""
    return np.asarray(contexts @ theta if theta.ndim == 1 else contexts @ theta.T)


def _extremes(theta: FloatArray, law: str) -> tuple[float, float]:
    """Least and largest product of a parameter (d,) and a context of a law."""
    if law == "intercept":
        size = float(np.linalg.norm(theta[:-1]))
        return (theta[-1] - size) / 2**0.5, (theta[-1] + size) / 2**0.5
    if law == "positive":
        low, high = (float(np.linalg.norm(np.maximum(sign * theta, 0.0))) for sign in (-1, 1))
        return -low if low else float(theta.min()), high or float(theta.max())
    size = float(np.linalg.norm(theta))
    return -size, size


@dataclass(frozen=True)
class Linear(_Scored):
    """Users whose mean reward for an arm is linear in the context; each reward is one of the two bounds.

    Parameters
    ----------
    theta
        True parameters of norm 1 or less: K of them for one context a user, or one (d,) that all arms share,
        where each arm has its own context.
    arms
        K, where all arms share theta.
    law
        Of the contexts: uniform on the unit ``sphere`` or in the unit ``ball``; ``positive``: on the sphere,
        with no negative entry; ``intercept``: (u, 1) / sqrt 2 with u uniform on the sphere.
    bounds
        Range of the rewards, (-1, 1) by default; no mean may lie outside.
    name
        For tables and plots.

    Raises
    ------
    InputError
        If theta is longer than 1, or a mean could lie outside the bounds.
    """


@dataclass(frozen=True)
class Logistic(_Scored):
    """Users who like an arm with probability 1 / (1 + exp(-steepness * score)), where the score is linear.

    Parameters
    ----------
    theta, arms, law, name
        See `Linear`.
    bounds
        (0, 1): rewards are 0 or 1.
    steepness
        Above 0.

    Raises
    ------
    InputError
        See `Linear`.
    """

    bounds: tuple[float, float] = (0.0, 1.0)
    steepness: float = 4.0

    def __post_init__(self) -> None:
        validate.positive("steepness", self.steepness)
        if tuple(self.bounds) != (0.0, 1.0):
            raise InputError(f"bounds must be (0, 1) for rewards of 0 or 1, got {self.bounds!r}")
        super().__post_init__()

    def _mean(self, scores: FloatArray) -> FloatArray:
        return np.asarray(1 / (1 + np.exp(-self.steepness * scores)))


@dataclass(frozen=True)
class FiniteTypes(Population):
    """Users of finitely many types, with any means; the best policy in hindsight maps types to arms.

    Parameters
    ----------
    type_means
        Mean rewards (types, K), within the bounds.
    type_contexts
        Different contexts (types, d) or (types, K, d) of norm 1 or less; None for unit vectors.
    chances
        Of each type; None for equal ones.
    bounds
        Range of the rewards, which are its two ends.
    name
        For tables and plots.

    Raises
    ------
    InputError
        If a number is out of range, shapes do not fit or two types have the same context.
    """

    type_means: tuple[tuple[float, ...], ...]
    type_contexts: tuple[tuple[float, ...], ...] | tuple[tuple[tuple[float, ...], ...], ...] | None = None
    chances: tuple[float, ...] | None = None
    bounds: tuple[float, float] = (0.0, 1.0)
    name: str = ""
    n_arms: int = field(init=False, repr=False)
    shape: tuple[int, ...] = field(init=False, repr=False)
    spread: float = field(init=False, repr=False)
    _rows: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        bounds = validate.bounds("bounds", self.bounds)
        means = validate.rewards("type_means", self.type_means, bounds, ndim=2)
        given = self.type_contexts
        rows = np.eye(len(means)) if given is None else _array("type_contexts", given, dims=(2, 3))
        Contexts(means.shape[1], rows.shape[1:], 1.0, bounds).table(rows, means)  # refuses what does not fit
        if len(np.unique(rows.reshape(len(rows), -1), axis=0)) < len(rows):
            raise InputError("type_contexts must differ from type to type")
        if self.chances is not None:
            chances = validate.rewards("chances", self.chances, (0.0, 1.0), ndim=1)
            if len(chances) != len(means) or abs(chances.sum() - 1) > _ROUNDING:
                raise InputError(f"chances must be {len(means)} numbers that sum to 1, got {self.chances!r}")
            object.__setattr__(self, "chances", tuple(chances.tolist()))
        found = {"n_arms": means.shape[1], "shape": rows.shape[1:], "bounds": bounds, "_rows": rows}
        found["spread"] = float((means.max(axis=1) - means.min(axis=1)).max())
        found["type_means"] = _tuples(means.tolist())
        found["type_contexts"] = None if given is None else _tuples(rows.tolist())
        for key, value in found.items():
            object.__setattr__(self, key, value)

    def contexts(self, rng: np.random.Generator, horizon: int) -> FloatArray:
        """See `Population.contexts`."""
        return np.asarray(self._rows[rng.choice(len(self._rows), horizon, p=self.chances)])

    def types(self, contexts: FloatArray) -> IntArray:
        """Number of the type of each user, (T,)."""
        flat = np.reshape(contexts, (len(contexts), -1))
        rows = self._rows.reshape(len(self._rows), -1)
        same = np.column_stack([(flat == row).all(axis=1) for row in rows])
        if not same.any(axis=1).all():
            raise InputError("contexts must be among those of the types")
        return np.asarray(same.argmax(axis=1), dtype=np.int64)

    def means(self, contexts: FloatArray) -> FloatArray:
        """See `Population.means`."""
        return np.asarray(np.array(self.type_means)[self.types(contexts)])

    def hindsight(self, users: Users) -> float:
        """Sum of the rewards of the best of all maps from types to arms."""
        sums = np.zeros((len(self._rows), self.n_arms))
        np.add.at(sums, self.types(users.contexts), users.rewards)
        return float(sums.max(axis=1).sum())


@dataclass(frozen=True)
class _Around(Population):
    """What follows from the population within."""

    population: Population

    def __post_init__(self) -> None:
        if not isinstance(self.population, Population):
            raise InputError(
                f"population must be one of vdp.populations, got {type(self.population).__name__}"
            )

    @property
    def n_arms(self) -> int:  # type: ignore[override]
        """K."""
        return int(self.population.n_arms)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """Of one user's context."""
        return tuple(self.population.shape)

    @property
    def bounds(self) -> tuple[float, float]:  # type: ignore[override]
        """Range of the rewards."""
        return (float(self.population.bounds[0]), float(self.population.bounds[1]))

    @property
    def spread(self) -> float:  # type: ignore[override]
        """See `Population`."""
        return float(self.population.spread)

    def contexts(self, rng: np.random.Generator, horizon: int) -> FloatArray:
        """See `Population.contexts`."""
        return np.asarray(self.population.contexts(rng, horizon))

    def means(self, contexts: FloatArray) -> FloatArray:
        """See `Population.means`."""
        return np.asarray(self.population.means(contexts))

    def hindsight(self, users: Users) -> float:
        """See `Population.hindsight`."""
        return float(self.population.hindsight(users))


@dataclass(frozen=True)
class InHindsight(_Around):
    """Users of another population, with regret measured against the best policy in hindsight.

    Parameters
    ----------
    population
        Where the users come from.
    name
        For tables and plots.
    """

    name: str = ""

    @property
    def spread(self) -> float:  # type: ignore[override]
        """The range of the rewards: what is compared are rewards."""
        return self.bounds[1] - self.bounds[0]

    def regret(self, users: Users, actions: npt.ArrayLike) -> float:
        """What the best policy in hindsight earns more; it may be negative."""
        return self.hindsight_regret(users, actions)


@dataclass(frozen=True)
class Ordered(_Around):
    """Users of another population, in an order that is hard for the bandit.

    The order follows from contexts and means, never from rewards: rewards stay independent of each other.

    Parameters
    ----------
    population
        Where the users come from.
    order
        ``by_best_arm``: all users with the same best arm together; ``misleading``: last those who like the
        arm most that is best on average; ``by_direction``: by the first entry of their contexts, so that
        later users are unlike all before.
    name
        For tables and plots.

    Raises
    ------
    InputError
        If the order is not known.
    """

    order: str = "misleading"
    name: str = ""

    def __post_init__(self) -> None:
        validate.choice("order", self.order, ORDERS)
        super().__post_init__()

    def contexts(self, rng: np.random.Generator, horizon: int) -> FloatArray:
        """Contexts in the order of the run."""
        contexts = self.population.contexts(rng, horizon)
        return np.asarray(contexts[self._ranked(contexts)])

    def _ranked(self, contexts: FloatArray) -> IntArray:
        means = self.means(contexts)
        key = np.asarray(means.argmax(axis=1), dtype=np.float64)
        if self.order == "misleading":
            key = means[:, means.mean(axis=0).argmax()]
        elif self.order == "by_direction":
            key = contexts.reshape(len(contexts), -1)[:, 0]
        return np.asarray(np.argsort(key, kind="stable"), dtype=np.int64)


def usual(name: str, n_arms: int, shape: tuple[int, ...]) -> Population:
    """A population from `USUAL` with contexts of this shape and rewards in [0, 1]; its parameters are fixed.

    ``linear``: means linear in contexts with an intercept; ``logistic``: contexts on the sphere; ``types``:
    twice as many types as dimensions, with means anywhere; ``misleading``: the linear one in such an order.

    Raises
    ------
    InputError
        If the name is not known, or the shape has one dimension where two are needed.
    """
    validate.choice("population", name, USUAL)
    rng, each, one = np.random.default_rng(1), shape[-1], len(shape) == 2
    if name == "types":
        drawn = rng.standard_normal((2 * each, *shape))
        rows = drawn / np.linalg.norm(drawn, axis=-1, keepdims=True) * (1 - _ROUNDING)
        return FiniteTypes(
            _tuples(rng.random((2 * each, n_arms)).tolist()), _tuples(rows.tolist()), name=name
        )
    straight = name != "logistic"
    if straight and each < 2:
        raise InputError(f"population: {name} needs contexts of at least dimension 2, got {each}")
    theta = rng.standard_normal((1 if one else n_arms, each - straight))
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    if straight:
        theta = np.hstack([theta, np.ones((len(theta), 1))]) / 2**0.5
    plain, arms = _tuples((theta[0] if one else theta).tolist()), n_arms if one else None
    if not straight:
        return Logistic(plain, arms, name=name)
    linear = Linear(plain, arms, "intercept", (0.0, 1.0), "linear")
    return linear if name == "linear" else Ordered(linear, name, name)


def _array(name: str, given: Given, *, dims: tuple[int, ...]) -> FloatArray:
    """Finite numbers in an array of one of these numbers of dimensions."""
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.full(0, np.nan)
    if found.ndim not in dims or not found.size or not np.isfinite(found).all():
        raise InputError(
            f"{name} must be finite numbers in {' or '.join(map(str, dims))} dimensions, got {given!r}"
        )
    return found


def _tuples(plain: Given) -> Given:
    return tuple(map(_tuples, plain)) if isinstance(plain, list) else plain
