"""Arms, the laws of their rewards, and what answers queries from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from verifiable_dp.core import philox, validate
from verifiable_dp.core.algorithm import Ask, Data, Query, Truncated
from verifiable_dp.core.environments.tables import answer_size
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.mechanisms.tree import SLOT_BITS
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.validate import FloatArray, InputError, IntArray, WordArray


class Environment(Protocol):
    """Independent rewards for each arm.

    Attributes
    ----------
    n_arms : int
        K.
    bounds : (float, float)
        Range of the rewards; may be infinite.
    gaps : (K,) float
        Suboptimality gaps.
    """

    @property
    def name(self) -> str:
        """For tables and plots."""
        ...

    @property
    def n_arms(self) -> int:
        """K."""
        ...

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""
        ...

    @property
    def gaps(self) -> FloatArray:
        """Suboptimality gaps Delta_a by arm, (K,)."""
        ...

    def data(self, seed: int, path: tuple[int, ...] = ()) -> Data:
        """What answers queries, with randomness of its own."""
        ...


class _ByMeans:
    """What follows from the means of the arms."""

    means: tuple[float, ...]

    @property
    def n_arms(self) -> int:
        """K."""
        return len(self.means)

    @property
    def gaps(self) -> FloatArray:
        """Suboptimality gaps Delta_a by arm, (K,)."""
        means = np.array(self.means)
        return np.asarray(means.max() - means)


@dataclass(frozen=True)
class TwoPoint(_ByMeans):
    """Arms that pay `high` with probability (mean - low) / (high - low), else `low`.

    Parameters
    ----------
    means : sequence of K floats
        Mean rewards, within the bounds.
    low, high : float
        The two rewards.
    name : str
        For tables and plots.

    Raises
    ------
    InputError
        If a mean is NaN or out of bounds.
    """

    means: tuple[float, ...]
    low: float = 0.0
    high: float = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        within = validate.bounds("bounds", (self.low, self.high))
        means = validate.rewards("means", self.means, within, ndim=1)
        if not len(means):
            raise InputError("means must contain at least one value, got none")
        object.__setattr__(self, "means", tuple(float(m) for m in means))

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""
        return (self.low, self.high)

    @property
    def probabilities(self) -> FloatArray:
        """Probability of the high reward by arm, (K,)."""
        return (np.array(self.means) - self.low) / (self.high - self.low)

    def data(self, seed: int, path: tuple[int, ...] = ()) -> Binomial:
        """Sums of whole blocks, one binomial draw each."""
        return Binomial(self, seed, path)

    def pulled(self, seed: int, runs: int, path: tuple[int, ...] = ()) -> Pulled:
        """Rewards pull by pull, as the kernels draw them."""
        return Pulled(self, key_of(seed, path), np.zeros((runs, self.n_arms), np.int64))


def bernoulli(means: Sequence[float], name: str = "") -> TwoPoint:
    """Bernoulli arms with the given means in [0, 1]."""
    return TwoPoint(tuple(means), 0.0, 1.0, name)


def two_point(mean: float, radius: float) -> TwoPoint:
    """One stream of rewards -R or +R with the given mean."""
    radius = validate.positive("radius", radius)
    return TwoPoint((mean,), -radius, radius, f"±{radius:g} with mean {mean:g}")


class Drawn(_ByMeans, ABC):
    """Base class of environments whose rewards are drawn one by one; subclasses define `means` and `draw`."""

    name: str

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards: the real line."""
        return (-np.inf, np.inf)

    @abstractmethod
    def draw(self, generator: np.random.Generator, arm: int, count: int) -> FloatArray:
        """Rewards (count,) of an arm."""

    def data(self, seed: int, path: tuple[int, ...] = ()) -> Data:
        """Sums over rewards that are drawn one by one."""
        return Draws(self, seed, path)


@dataclass(frozen=True)
class Pareto(Drawn):
    """Pareto rewards: tail exponent `shape`, minimum (shape - 1) mean / shape.

    Parameters
    ----------
    means
        Means above 0, K of them.
    shape
        Above 1; moments of order below it are finite.
    name
        For tables and plots.

    Raises
    ------
    InputError
        If a number is out of range.
    """

    means: tuple[float, ...]
    shape: float
    name: str = ""

    def __post_init__(self) -> None:
        values = validate.rewards("means", self.means, (0.0, np.inf), ndim=1)
        if not len(values) or values.min() <= 0:
            raise InputError(f"means must be greater than 0, got {self.means!r}")
        if not validate.positive("shape", self.shape) > 1:
            raise InputError(f"shape must be greater than 1, got {self.shape!r}")
        object.__setattr__(self, "means", tuple(float(m) for m in values))

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards: the positive numbers."""
        return (0.0, np.inf)

    def moment(self, order: float) -> float:
        """Largest E X^order over the arms.

        Raises
        ------
        InputError
            If it is infinite: `order` must be below `shape`.
        """
        if not order < self.shape:
            raise InputError(f"order must be below the shape {self.shape:g}, got {order!r}")
        scale = (self.shape - 1) * max(self.means) / self.shape
        return float(self.shape * scale**order / (self.shape - order))

    def draw(self, generator: np.random.Generator, arm: int, count: int) -> FloatArray:
        """See `Drawn.draw`."""
        scale = (self.shape - 1) * self.means[arm] / self.shape
        # A logarithm of Pareto is exponential; this is twice as fast as the generator's own Pareto draws.
        log = generator.standard_exponential(count)
        log /= self.shape
        return np.multiply(np.exp(log, out=log), scale, out=log)


@dataclass(frozen=True)
class StudentT(Drawn):
    """mean + spread times Student's t with `df` degrees of freedom.

    Raises
    ------
    InputError
        If `df` is not above 1 or `spread` not above 0.
    """

    means: tuple[float, ...]
    df: float
    spread: float = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        values = validate.rewards("means", self.means, (-np.inf, np.inf), ndim=1)
        validate.positive("spread", self.spread)
        if not validate.positive("df", self.df) > 1:
            raise InputError(f"df must be greater than 1, got {self.df!r}")
        object.__setattr__(self, "means", tuple(float(m) for m in values))

    def draw(self, generator: np.random.Generator, arm: int, count: int) -> FloatArray:
        """See `Drawn.draw`."""
        return np.asarray(self.means[arm] + self.spread * generator.standard_t(self.df, count))


@dataclass(frozen=True)
class Huber(Drawn):
    """Huber's model: with probability alpha, a reward is an outlier instead of an inlier.

    Regret and gaps are those of the inliers.

    Parameters
    ----------
    inlier
        Where the other rewards come from.
    alpha
        In [0, 1/2).
    kind
        ``point`` always pays `size`; ``symmetric`` +size or -size with equal chance; ``adversarial``
        -size to the best arm and +size to the others.
    size
        Of the outliers.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    inlier: Drawn
    alpha: float
    kind: str = "point"
    size: float = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        validate.choice("kind", self.kind, ("point", "symmetric", "adversarial"))
        validate.positive("size", self.size)
        if not 0 <= self.alpha < 0.5:
            raise InputError(f"alpha must lie in [0, 0.5), got {self.alpha!r}")

    @property
    def means(self) -> tuple[float, ...]:  # type: ignore[override]
        """Means of the inliers."""
        return self.inlier.means

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the rewards."""
        low, high = self.inlier.bounds
        return (low if self.kind == "point" else min(low, -self.size), high)

    def draw(self, generator: np.random.Generator, arm: int, count: int) -> FloatArray:
        """See `Drawn.draw`."""
        rewards = self.inlier.draw(generator, arm, count)
        bad = generator.random(count) < self.alpha
        if self.kind == "symmetric":
            return np.where(bad, self.size * (2.0 * (generator.random(count) < 0.5) - 1), rewards)
        best = self.kind == "adversarial" and arm == int(np.argmax(self.means))
        return np.where(bad, -self.size if best else self.size, rewards)


@dataclass(frozen=True)
class Generated:
    """Base class of answers from a generator that continues from block to block; `path` separates streams."""

    environment: Environment
    seed: int
    path: tuple[int, ...] = ()
    _generator: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sequence = np.random.SeedSequence(self.seed, spawn_key=self.path)
        object.__setattr__(self, "_generator", np.random.Generator(np.random.Philox(sequence)))


@dataclass(frozen=True)
class Draws(Generated):
    """Answers with rewards that are drawn one by one, in one block per arm."""

    environment: Drawn

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`."""
        pulls = query.pulls()
        size = answer_size(query)
        sums = np.zeros((*pulls.shape, *size))
        for row, arm in np.argwhere(pulls > 0).tolist():
            for count in _chunks(int(pulls[row, arm])):
                rewards = self.environment.draw(self._generator, arm, count)
                sums[row, arm] += asked_sum(query.ask, rewards, row, arm)
        return sums


def asked_sum(ask: Ask | None, rewards: FloatArray, row: int, arm: int) -> float | FloatArray:
    """What is asked of rewards of one arm, added up."""
    if ask is None:
        return float(rewards.sum())
    if isinstance(ask, Truncated):
        return float(_truncated_sum(rewards, ask.limit[row, arm], ask.centre[row, arm]))
    found = ask.values(rewards, np.array([row]), np.array([arm]))  # one row and one arm for all
    return np.asarray(np.broadcast_to(found, (len(rewards), *found.shape[1:])).sum(axis=0))


@kernel
def _truncated_sum(rewards, limit, centre):  # type: ignore[no-untyped-def]
    total = 0.0
    for x in rewards:
        moved = x - centre
        if abs(moved) <= limit:
            total += moved
    return total


_TOGETHER = 1 << 16  # rewards that are drawn together


def _chunks(count: int) -> Iterator[int]:
    for start in range(0, count, _TOGETHER):
        yield min(_TOGETHER, count - start)


@dataclass(frozen=True)
class Discrete(Drawn):
    """Arms with finitely many rewards: arm a pays `rewards[a][j]` with probability `chances[a][j]`.

    Blocks are answered with one multinomial draw: exact in law, however many pulls.

    Parameters
    ----------
    rewards, chances
        K sequences each, of the same lengths; the chances of an arm sum to 1.
    name
        For tables and plots.

    Raises
    ------
    InputError
        If the shapes differ, a number is not finite, or chances are not a probability.
    """

    rewards: tuple[tuple[float, ...], ...]
    chances: tuple[tuple[float, ...], ...]
    name: str = ""

    def __post_init__(self) -> None:
        if not self.rewards or [len(r) for r in self.rewards] != [len(c) for c in self.chances]:
            raise InputError(
                "rewards and chances must contain at least one arm, with equal lengths for each arm"
            )
        for field_name in ("rewards", "chances"):
            within = (-np.inf, np.inf) if field_name == "rewards" else (0.0, 1.0)
            rows = tuple(
                tuple(validate.rewards(field_name, row, within, ndim=1).tolist())
                for row in getattr(self, field_name)
            )
            object.__setattr__(self, field_name, rows)
        if any(abs(sum(row) - 1) > 1e-9 for row in self.chances):
            raise InputError(f"chances must sum to 1 for every arm, got {[sum(row) for row in self.chances]}")

    @property
    def means(self) -> tuple[float, ...]:  # type: ignore[override]
        """Mean rewards."""
        rows = zip(self.rewards, self.chances, strict=True)
        return tuple(float(np.dot(values, chances)) for values, chances in rows)

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest reward."""
        return (min(map(min, self.rewards)), max(map(max, self.rewards)))

    def moment(self, order: float) -> float:
        """Largest E|X|^order over the arms."""
        rows = zip(self.rewards, self.chances, strict=True)
        return max(float(np.dot(np.abs(values) ** order, chances)) for values, chances in rows)

    def draw(self, generator: np.random.Generator, arm: int, count: int) -> FloatArray:
        """See `Drawn.draw`."""
        return np.asarray(generator.choice(self.rewards[arm], count, p=self.chances[arm]))

    def data(self, seed: int, path: tuple[int, ...] = ()) -> Data:
        """Sums of whole blocks, one multinomial draw each."""
        return Multinomial(self, seed, path)


@dataclass(frozen=True)
class Multinomial(Generated):
    """Answers n pulls with one multinomial draw, which is exact for finitely many rewards."""

    environment: Discrete

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`."""
        pulls, env = query.pulls(), self.environment
        sums = np.zeros((*pulls.shape, *answer_size(query)))
        for arm, (values, chances) in enumerate(zip(env.rewards, env.chances, strict=True)):
            counts = self._generator.multinomial(pulls[:, arm], chances)
            for value, count in zip(values, counts.T, strict=True):
                only = np.zeros(pulls.shape, np.int64)
                only[:, arm] = count
                sums += _weighed(query, only, value)
        return sums


@dataclass(frozen=True)
class Binomial(Generated):
    """Answers n pulls with one binomial draw, which is exact for two-point rewards."""

    environment: TwoPoint

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`."""
        pulls, env = query.pulls(), self.environment
        hits = self._generator.binomial(pulls, env.probabilities)
        return _weighed(query, pulls - hits, env.low) + _weighed(query, hits, env.high)


def _weighed(query: Query, count: IntArray, reward: float) -> FloatArray:
    """What `count` (n, K) rewards of the same value add to the answer."""
    if query.ask is None:
        return np.asarray(count * reward)
    row, arm = (index.ravel() for index in np.indices(count.shape))
    values = query.ask.values(np.full(count.size, reward), row, arm)
    values = values.reshape(*count.shape, *values.shape[1:])
    return np.asarray(count.reshape(*count.shape, *(1,) * (values.ndim - 2)) * values)


@kernel
def _sum_pulls(key, run, first, count, threshold, low, high):  # type: ignore[no-untyped-def]
    """Sums of rewards number first .. first + count - 1 of each arm."""
    n, k = count.shape
    out = np.zeros((n, k))
    for i in range(n):
        for a in range(k):
            for number in range(first[i, a], first[i, a] + count[i, a]):
                slot = (np.uint64(a) << np.uint64(SLOT_BITS)) | np.uint64(number)
                bits = philox.word(key[0], key[1], run[i], philox.REWARD, slot)
                out[i, a] += high if philox.to_unit(bits) < threshold[a] else low
    return out


@dataclass(frozen=True)
class Pulled:
    """Answers with rewards drawn pull by pull: reward number j of arm a in run i is a function of (a, j, i).

    Kernels draw the same rewards. It counts the pulls, so one object serves one set of runs.
    """

    environment: TwoPoint
    key: WordArray
    count: IntArray

    def answer(self, query: Query, run: IntArray) -> FloatArray:
        """See `algorithm.Data.answer`."""
        pulls, env = query.pulls(), self.environment
        if query.ask is not None and pulls.max() > 1:
            raise InputError(
                "environment: its rewards are drawn pull by pull; request them one pull at a time"
            )
        sums = _sum_pulls(self.key, run, self.count[run], pulls, env.probabilities, env.low, env.high)
        self.count[run] += pulls
        if query.ask is None:
            return np.asarray(sums)
        row, arm = np.nonzero(pulls)
        asked = np.zeros((*pulls.shape, *answer_size(query)))
        asked[row, arm] = query.ask.values(sums[row, arm], row, arm)
        return asked
