"""Ridge regression on items [x; r] [x; r]' of users, and the upper confidence bounds of arms."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.algorithm import Query, State
from verifiable_dp.core.contextual import ContextualAlgorithm, Rule, clipped, matrix, outer
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.validate import FloatArray, IntArray

MOST_REWARD = 1.0  # rewards lie in [0, 1]


@dataclass(frozen=True)
class Confident(Rule):
    """Take the arm with the largest x' theta + radius |x|_(V^-1); answer with the entries of [x; r] [x; r]'.

    Attributes
    ----------
    estimate : (n, d) float
        theta.
    inverse : (n, d, d) float
        V^-1.
    radius : (n,) float
        Radius of the confidence ellipsoid in the norm of V.
    norm : (n,) float
        Contexts that are longer are clipped to it.
    """

    estimate: FloatArray
    inverse: FloatArray
    radius: FloatArray
    norm: FloatArray

    @property
    def size(self) -> int:
        """(d + 1) (d + 2) / 2 entries."""
        d = int(self.estimate.shape[1])
        return (d + 1) * (d + 2) // 2

    def clip(self, contexts: FloatArray) -> FloatArray:
        """Contexts (n, ..., d) that are no longer than allowed."""
        return clipped(contexts, self.norm.reshape(-1, *[1] * (contexts.ndim - 1)))

    def indices(self, contexts: FloatArray) -> FloatArray:
        """Upper confidence bounds (n, K)."""
        found: FloatArray = _bounds(
            np.ascontiguousarray(contexts, dtype=np.float64),
            np.ascontiguousarray(self.estimate),
            np.ascontiguousarray(self.inverse),
            self.radius,
            self.norm,
        )
        return found

    def choose(self, contexts: FloatArray) -> IntArray:
        """See `Rule.choose`; ties go to the first arm."""
        return np.asarray(self.indices(contexts).argmax(axis=1))

    def items(self, context: FloatArray, reward: FloatArray) -> FloatArray:
        """See `Rule.items`."""
        return outer(np.hstack([self.clip(context), np.clip(reward, 0.0, MOST_REWARD)[:, None]]))


@kernel
def _bounds(contexts, estimate, inverse, radius, norm):  # type: ignore[no-untyped-def]
    """x' theta + radius |x|_(V^-1) of the clipped contexts x, (n, K)."""
    runs, n_arms, d = contexts.shape
    bounds = np.empty((runs, n_arms))
    x = np.empty(d)
    for i in range(runs):
        for arm in range(n_arms):
            squares = 0.0
            for j in range(d):
                squares += contexts[i, arm, j] * contexts[i, arm, j]
            shrunk = norm[i] / max(math.sqrt(squares), norm[i])
            mean = 0.0
            for j in range(d):
                x[j] = contexts[i, arm, j] * shrunk
                mean += x[j] * estimate[i, j]
            width = 0.0
            for j in range(d):
                total = 0.0
                for k in range(d):
                    total += x[k] * inverse[i, k, j]
                width += total * x[j]
            if width < 0.0:  # of an indefinite matrix
                width = 0.0
            bounds[i, arm] = mean + radius[i] * math.sqrt(width)
    return bounds


@kernel
def _total(parts):  # type: ignore[no-untyped-def]
    """Sum of the parts (n, levels, m) in their order, which NumPy is slow at where they are short."""
    runs, levels, size = parts.shape
    total = np.zeros((runs, size))
    for i in range(runs):
        for level in range(levels):
            for j in range(size):
                total[i, j] += parts[i, level, j]
    return total


@dataclass(frozen=True)
class Regressed(State):
    """Public state of a ridge regression.

    Attributes
    ----------
    sums : (n, levels, m) float
        Released parts, whose sum is the noisy sum of all items.
    estimate, inverse, radius
        See `Confident`.
    """

    sums: FloatArray
    estimate: FloatArray
    inverse: FloatArray
    radius: FloatArray


class Regression(ContextualAlgorithm):
    """Optimism on a regression; subclasses define how items are released and how large the ridge must be.

    Attributes
    ----------
    norm : float
        The norm to which contexts are clipped.
    """

    norm: float
    alpha: float | None

    def check(self) -> None:
        """Refuse parameters that are out of range.

        Raises
        ------
        InputError
            If one is.
        """
        validate.arms_and_horizon(self.n_arms, self.horizon)
        validate.integer("dimension", self.dimension, least=1)
        validate.positive("norm", self.norm)
        alpha = 1 / self.horizon if self.alpha is None else self.alpha
        object.__setattr__(self, "alpha", validate.probability("alpha", alpha))

    @property
    def allowed_norm(self) -> float:
        """Twice the norm at which contexts are clipped."""
        return 2 * self.norm

    @property
    def item_norm(self) -> float:
        """|[x; r]|^2, which is the Euclidean norm of an item."""
        return self.norm**2 + MOST_REWARD**2

    @property
    @abstractmethod
    def ridge(self) -> float:
        """What is added to every diagonal entry of the released Gram matrix."""

    @abstractmethod
    def ellipsoid(self, log_det: FloatArray) -> FloatArray:
        """Radius of the confidence ellipsoid from log det V, (n,)."""

    def of_rewards(self, log_det: FloatArray, chance: float) -> FloatArray:
        """The radius without noise, which fails with at most this probability; see `LinUCBContextual`."""
        grown = log_det - self.dimension * math.log(self.ridge) - 2 * math.log(chance)
        return np.asarray(MOST_REWARD / 2 * np.sqrt(np.maximum(grown, 0.0)) + math.sqrt(self.ridge))

    def parts(self, n: int) -> FloatArray:
        """Released parts before the first round, (n, levels, m)."""
        return np.zeros((n, 1, (self.dimension + 1) * (self.dimension + 2) // 2))

    def start(self, run: IntArray) -> Regressed:
        """Nothing learnt: V is the ridge."""
        n, d = len(run), self.dimension
        empty = Regressed(
            run,
            np.zeros(n, np.int64),
            self.parts(n),
            np.zeros((n, d)),
            np.zeros((n, d, d)),
            np.zeros(n),
        )
        return self.solved(empty)

    def solved(self, state: Regressed) -> Regressed:
        """The regression on the released parts."""
        d = self.dimension
        whole = matrix(_total(state.sums), d + 1)
        gram = whole[:, :d, :d] + self.ridge * np.eye(d)
        sign, log_det = np.linalg.slogdet(gram)
        # An indefinite matrix gives widths that mean nothing; the promise is about releases, and holds.
        inverse = np.linalg.inv(np.where((sign == 0)[:, None, None], np.eye(d), gram))
        return replace(
            state,
            estimate=(inverse @ whole[:, :d, d, None])[:, :, 0],
            inverse=inverse,
            radius=self.ellipsoid(np.where(np.isfinite(log_det), log_det, 0.0)),
        )

    def rule(self, state: Regressed) -> Confident:
        """The confidence bounds of the regression so far."""
        return Confident(
            state.estimate, state.inverse, state.radius, np.full(len(state.run), float(self.norm))
        )

    def decide(self, state: Regressed, query: Query, released: FloatArray) -> Regressed:
        """Repeat the regression."""
        t = state.t + 1
        return self.solved(replace(state, t=t, sums=self.joined(state.sums, t, released)))

    def joined(self, sums: FloatArray, number: IntArray, released: FloatArray) -> FloatArray:
        """Parts after the item of this number has released `released` (n, m)."""
        return sums + released[:, None]


class NoisyRegression(Regression):
    """A regression on items with symmetric noise: the shift and the radius that its size asks for.

    Attributes
    ----------
    epsilon, delta : float
        The promise to each user.
    """

    epsilon: float
    delta: float

    def check(self) -> None:
        """See `Regression.check`."""
        super().check()
        validate.positive("epsilon", self.epsilon)
        validate.probability("delta", self.delta)

    @property
    @abstractmethod
    def deviation(self) -> float:
        """Largest standard deviation of the noise of a diagonal entry of a prefix sum."""

    def spread(self, chance: float) -> float:
        """Upsilon: the spectral norm of a prefix sum's noise exceeds it with at most this probability.

        The largest eigenvalue of normal symmetric noise has an expectation of at most sigma sqrt(2 d) and is
        sigma-Lipschitz in the noise. The same holds for minus the least eigenvalue.
        """
        return self.deviation * (math.sqrt(2 * self.dimension) + math.sqrt(2 * math.log(2 / chance)))

    @property
    def moved(self) -> float:
        """Bound on the noise of all prefix sums of r x, which fails with probability at most alpha/4."""
        d, alpha = self.dimension, float(self.alpha or 1)
        return (
            self.deviation / math.sqrt(2) * (math.sqrt(d) + math.sqrt(2 * math.log(4 * self.horizon / alpha)))
        )

    @property
    def upsilon(self) -> float:
        """`spread`, in all rounds at once."""
        return self.spread(float(self.alpha or 1) / (2 * self.horizon))

    @property
    def ridge(self) -> float:
        """The shift, 2 Upsilon."""
        return 2 * self.upsilon

    def ellipsoid(self, log_det: FloatArray) -> FloatArray:
        """See the formula of the class."""
        d, alpha, least = self.dimension, float(self.alpha or 1), self.upsilon
        grown = 2 * math.log(4 / alpha) + log_det - d * math.log(least)
        private = math.sqrt(3 * least) + self.moved / math.sqrt(least)
        return np.asarray(MOST_REWARD / 2 * np.sqrt(np.maximum(grown, 0.0)) + private)


__all__ = ["MOST_REWARD", "Confident", "NoisyRegression", "Regressed", "Regression"]
