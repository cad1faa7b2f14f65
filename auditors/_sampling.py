"""What Thompson sampling from normal posteriors tells of one reward: by all its draws, and by its actions.

*All draws* are normal mechanisms in adaptive composition. While the changed reward's arm has n pulls, a round
costs mu^2 = 1/(c (n + 1)); the costs add up over the rounds (Dong, Roth & Su 2022, Corollary 3.3).

*The actions alone* of two arms tell less. `TwoArms` computes the law of their privacy loss where rewards are
constant: actions are then a Markov chain on the pulls. Paths with nearly the same loss are put together, with
their exact probabilities in both worlds; that is post-processing. What follows is a lower bound, but for the
rounding of floats.

`AnyRewards` bounds the actions of two arms from above, for every adversary that chooses rewards after seeing
the actions so far. Let y be the privacy loss so far less epsilon, and V(t, n, y) the largest expectation of
(1 - e^-y)+ at T. A round ends in one of two actions, whose chances are Phi(z) and Phi(-z) in one world and
those of z' in the other. Both follow from the pulls and from d, how far the posterior means lie apart. Past
choices restrict d. Letting the adversary choose any d that so many pulls allow, anew in each round, only adds
to V:

    V(t, n, y) = max over d of Phi(z) V(t+1, n+1, y + log Phi(z)/Phi(z')) + Phi(-z) V(t+1, n, y + ...).

V is convex in e^-y, as a supremum of such expectations, so that interpolating between points adds to it. The
maximum over d is taken on a grid, without interval arithmetic: the inequality is proved, its number computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtr

from verifiable_dp.core.kernels import kernel, njit
from verifiable_dp.core.roots import brentq
from verifiable_dp.core.validate import FloatArray, IntArray

_LEAST = 1e-25  # paths that are rarer in both worlds are left out
_FARTHEST = 200.0  # loss beyond which paths are put together


def composed_mu(pulls: IntArray, variance: float = 1.0) -> FloatArray:
    """The mu of draws in rounds in which the arm had `pulls` (..., rounds) pulls, after the changed one."""
    return np.asarray(np.sqrt((1 / (variance * (pulls + 1.0))).sum(axis=-1)))


def worst_mu(n_arms: int, horizon: int, variance: float = 1.0, first: int = 1) -> float:
    """The mu of all draws where the changed reward's arm keeps its first pulls: the largest one."""
    return math.sqrt((horizon - first * n_arms) / (variance * (first + 1)))


@dataclass(frozen=True)
class Losses:
    """What is seen, put together by privacy loss: probabilities in two worlds, (m,) each."""

    left: FloatArray
    right: FloatArray

    def delta(self, epsilon: float) -> float:
        """The delta that holds between both worlds at epsilon, at least; both directions."""
        factor = math.exp(-epsilon)  # the other side is divided by e^epsilon: no overflow
        return max(
            float(np.maximum(one - other / factor, 0.0).sum()) if factor > 0 else 0.0
            for one, other in ((self.left, self.right), (self.right, self.left))
        )

    def epsilon(self, delta: float) -> float:
        """The epsilon that holds between both worlds at delta, at least; both directions."""
        if self.delta(0.0) <= delta:
            return 0.0
        return brentq(lambda x: self.delta(x) - delta, 0.0, 2 * _FARTHEST, xtol=1e-9)


@dataclass(frozen=True)
class TwoArms:
    """Thompson sampling on two arms with constant rewards, of which one reward of the first arm is changed.

    Parameters
    ----------
    rewards
        Of both arms.
    changed
        Number of the pull of the first arm whose reward is 0 in one world and 1 in the other, from 1.
    variance, first
        c and b, as in `GaussianTS`.
    most
        Pulls of the arm with the lower reward up to which paths are followed; the others are left out.
    width
        Of the bins of privacy loss.
    """

    rewards: tuple[float, float]
    changed: int = 1
    variance: float = 1.0
    first: int = 1
    most: int = 100
    width: float = 0.05

    @property
    def counted(self) -> int:
        """The arm with the lower reward, whose pulls are the state."""
        return int(self.rewards[0] > self.rewards[1])

    def _chances(self, pulls: IntArray, t: int, reward: float) -> tuple[FloatArray, FloatArray]:
        """Chances that the first and the second arm are next, (pulls,), if the changed reward is that."""
        first = pulls if self.counted == 0 else t - pulls
        second = t - first
        had = first >= self.changed
        total = self.rewards[0] * (first - had) + reward * had
        ahead = total / (first + 1) - self.rewards[1] * second / (second + 1)
        z = ahead / np.sqrt(self.variance * (1 / (first + 1.0) + 1 / (second + 1.0)))
        return ndtr(z), ndtr(-z)

    def losses(self, horizons: Sequence[int]) -> dict[int, Losses]:
        """What the actions of the first T rounds tell, for each T of `horizons`, each above 2 b."""
        pulls, left, right = np.array([self.first]), np.ones(1), np.ones(1)
        found = {}
        for t in range(2 * self.first, max(horizons)):
            level = np.arange(pulls.max(initial=0) + 1)
            worlds = [self._chances(level, t, reward) for reward in (0.0, 1.0)]
            moved = [pulls + (arm == self.counted) for arm in (0, 1)]
            left = np.concatenate([left * chance[pulls] for chance in worlds[0]])
            right = np.concatenate([right * chance[pulls] for chance in worlds[1]])
            pulls, left, right = self._merged(np.concatenate(moved), left, right)
            if t + 1 in horizons:
                found[t + 1] = Losses(left, right)
        return found

    def _merged(
        self, pulls: IntArray, left: FloatArray, right: FloatArray
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Paths with as many pulls and nearly the same loss together."""
        on = (np.maximum(left, right) >= _LEAST) & (pulls <= self.most)
        pulls, left, right = pulls[on], left[on], right[on]
        with np.errstate(divide="ignore"):
            loss = np.clip(np.log(left) - np.log(right), -_FARTHEST, _FARTHEST)
        place = np.rint(loss / self.width).astype(np.int64)
        place -= place.min(initial=0)
        places = int(place.max(initial=0)) + 1
        key = pulls * places + place
        left = np.bincount(key, left).astype(np.float64)
        right = np.bincount(key, right).astype(np.float64)
        kept = np.flatnonzero(left + right)
        return np.asarray(kept // places), left[kept], right[kept]


# ---------------------------------------------------------------- from above


@njit(nogil=True, inline="always", error_model="numpy")
def _chance(z):  # type: ignore[no-untyped-def]
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


@partial(kernel, error_model="numpy")
def _largest(here, there, width, pulled, other, found):  # type: ignore[no-untyped-def]
    """Into `found` V by y, from V if the arm is `pulled` or the `other` one; at points z of both worlds."""
    size = len(found)
    found[:] = 0.0
    for k in range(len(here)):
        chances = _chance(here[k]), _chance(-here[k])
        gains = math.log(chances[0] / _chance(there[k])), math.log(chances[1] / _chance(-there[k]))
        steps = math.floor(gains[0] / width), math.floor(gains[1] / width)
        weights = (
            math.expm1(steps[0] * width - gains[0]) / math.expm1(-width),  # linear in e^-y
            math.expm1(steps[1] * width - gains[1]) / math.expm1(-width),
        )
        for j in range(size):
            value = 0.0
            for side in range(2):
                later, at = pulled if side == 0 else other, j + steps[side]
                if at >= size - 1:
                    value += chances[side]
                elif at < 0:
                    value += chances[side] * later[0]
                else:
                    share = weights[side]
                    value += chances[side] * (later[at] * (1 - share) + later[at + 1] * share)
            found[j] = max(found[j], value)


@dataclass(frozen=True)
class AnyRewards:
    """The largest delta of the actions of two arms over all rewards, by epsilon; one reward changes by 1.

    Parameters
    ----------
    variance
        c, as in `GaussianTS`; b is 1.
    share
        By how much the reward changes.
    width, gaps
        Distance of the points y, and number of the points d.
    least, largest
        Range of y; below it V counts as at its end, above it as 1.
    """

    variance: float = 1.0
    share: float = 1.0
    width: float = 0.05
    gaps: int = 21
    least: float = -70.0
    largest: float = 30.0

    @property
    def losses(self) -> FloatArray:
        """The points y."""
        return np.arange(self.least, self.largest, self.width)

    def _points(self, t: int, n: int) -> tuple[FloatArray, FloatArray]:
        """Points z of both worlds, (gaps,), of the arm with n of t pulls."""
        other = t - n
        spread = math.sqrt(self.variance * (1 / (n + 1) + 1 / (other + 1)))
        d = np.linspace(-other / (other + 1), (n - self.share) / (n + 1), self.gaps)
        return d / spread, (d + self.share / (n + 1)) / spread

    def delta(self, horizon: int) -> FloatArray:
        """The delta at epsilon = -y for each point y, after T = `horizon` rounds; both directions."""
        return np.asarray(np.maximum(self._delta(horizon, 1), self._delta(horizon, -1)))

    def _delta(self, horizon: int, order: int) -> FloatArray:
        value = np.tile(np.maximum(-np.expm1(-self.losses), 0.0), (horizon + 1, 1))
        best, found = value[0].copy(), np.empty_like(value[0])
        for t in range(horizon - 1, 1, -1):
            for n in range(1, t):  # row n + 1 is still that of the next round
                here, there = self._points(t, n)[::order]
                _largest(here, there, self.width, value[n + 1], value[n], found)
                value[n] = found
                np.maximum(best, found, out=best)  # any pull may be the changed one
        return np.asarray(best)

    def epsilon(self, horizon: int, delta: float) -> float:
        """The least epsilon, of those on the grid, that holds at delta for all rewards."""
        within = self.losses[self.delta(horizon) <= delta]
        return float(-within.max()) if len(within) else math.inf
