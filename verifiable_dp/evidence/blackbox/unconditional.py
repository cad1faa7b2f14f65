"""An exact unconditional test of p <= e^epsilon q + delta from two independent binomial counts.

Outcomes are ordered by the signed root of the likelihood ratio, r. The p-value is the largest probability,
over the nuisance q, of an outcome at least as extreme; that is taken over an exact confidence interval for
q whose error is a thousandth of the p-value, which the p-value then contains (Berger & Boos 1994). Larger r
means more hits in the first world and fewer in the second, so the worst case lies on the boundary
p = e^epsilon q + delta. Nothing is drawn: equal counts give equal p-values.

How exact: up to `_EVERY` values of the second count are added up one by one. Beyond that the sum is taken
in steps of a fifth of the narrower standard deviation, which for so smooth a summand is an error far below
the margin of 1e-4 that every p-value is raised by; where that would need too many steps, each is rounded
up. The maximum over q is that of a grid and of a finer one around the best of its points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from verifiable_dp.core.validate import FloatArray

LEAST = 1e-50  # p-values are not told apart below
_NUISANCE = 1e-3  # share of the level that the interval for q may fail with
_MARGIN = 1 + 1e-4
_EVERY = 400
_STEPS = 4000
_POINTS, _FINER = 25, 7


@dataclass(frozen=True)
class Design:
    """The sizes of both samples and the claim.

    Parameters
    ----------
    n1, n0
        Runs of either world.
    epsilon, delta
        The claim p <= e^epsilon q + delta.
    """

    n1: int
    n0: int
    epsilon: float
    delta: float

    @property
    def _factor(self) -> float:
        return math.exp(min(max(self.epsilon, -300.0), 300.0))

    @property
    def _most(self) -> float:
        """The largest q of the boundary: from (1 - delta) / e^epsilon on the claim says nothing."""
        return min(1.0, (1 - self.delta) / self._factor)

    def _p(self, q: FloatArray) -> FloatArray:
        """The p of the boundary, (n,)."""
        return np.minimum(self._factor * q + self.delta, 1.0)

    def _rest(self, q: FloatArray) -> FloatArray:
        """1 - p on the boundary, without cancellation near p = 1; (n,)."""
        slack = max(0.0, 1 - self.delta - self._factor) if self._most == 1 else 0.0
        return np.asarray(self._factor * np.maximum(self._most - q, 0.0) + slack)

    def roots(self, k1: FloatArray, k0: FloatArray) -> FloatArray:
        """Signed roots of the likelihood ratio against the claim, (n,); 0 where the claim holds."""
        k1, k0 = np.broadcast_arrays(np.asarray(k1, float), np.asarray(k0, float))
        inside = k1 / self.n1 > self._factor * k0 / self.n0 + self.delta
        return np.where(inside, np.sqrt(self._deviance(k1, k0, self._fitted(k1, k0))), 0.0)

    def _slope(self, k1: FloatArray, k0: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivative of the log-likelihood along the boundary, and minus its derivative, (n,)."""
        c = self._factor
        parts = (
            (k1, self._p(q), c),
            (self.n1 - k1, self._rest(q), -c),
            (k0, q, 1.0),
            (self.n0 - k0, 1 - q, -1.0),
        )
        slope, bend = np.zeros(k1.shape), np.zeros(k1.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            for count, share, sign in parts:  # a count of 0 adds nothing, even at a share of 0
                term = np.where(count > 0, count / share, 0.0)
                slope += sign * term
                bend += np.where(count > 0, sign**2 * term / share, 0.0)
        return slope, bend

    def _fitted(self, k1: FloatArray, k0: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """The q of largest likelihood on the boundary, (n,): Newton's method inside a bracket."""
        low, high = np.zeros(k1.shape), np.full(k1.shape, self._most)
        at_low, at_high = self._slope(k1, k0, low)[0] <= 0, self._slope(k1, k0, high)[0] >= 0
        q = (k0 + 0.5) / (self.n0 + 1.0) if start is None else start
        q = np.clip(q, 1e-12 * self._most, (1 - 1e-6) * self._most)
        for _ in range(80):
            slope, bend = self._slope(k1, k0, q)
            low, high = np.where(slope > 0, q, low), np.where(slope > 0, high, q)
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = q + slope / bend
            done = (np.abs(moved - q) <= 1e-9 * np.minimum(q, self._most - q)) | at_low | at_high
            inside = (moved > low) & (moved < high)
            q = np.where(inside | done, np.clip(moved, low, high), (low + high) / 2)
            if done.all():
                break
        return np.where(at_low, 0.0, np.where(at_high, self._most, q))

    def _deviance(self, k1: FloatArray, k0: FloatArray, q: FloatArray) -> FloatArray:
        """Twice the log-likelihood that the boundary point (e^epsilon q + delta, q) lacks, (n,)."""
        one = special.kl_div(k1, self.n1 * self._p(q))
        one += special.kl_div(self.n1 - k1, self.n1 * self._rest(q))
        zero = special.kl_div(k0, self.n0 * q) + special.kl_div(self.n0 - k0, self.n0 * (1 - q))
        return np.asarray(2 * np.maximum(one + zero, 0.0))

    def boundary(self, root: float, k0: FloatArray) -> FloatArray:
        """The first count (n,) at which r reaches `root`, a real number; above n1 where it never does."""
        low = self.n1 * np.minimum(self._factor * k0 / self.n0 + self.delta, 1.0)
        high = np.full(k0.shape, float(self.n1))
        never = self.roots(high, k0) < root
        spread = np.sqrt(
            np.maximum(low * (1 - low / self.n1), 1.0)
            + (self._factor * self.n1 / self.n0) ** 2 * np.maximum(k0 * (1 - k0 / self.n0), 0.5)
        )
        k1 = np.clip(low + root * spread, low + 1e-9 * (high - low), high - 1e-9 * (high - low))
        q = self._fitted(k1, k0)
        for _ in range(100):
            found = np.sqrt(self._deviance(k1, k0, q))
            low, high = np.where(found < root, k1, low), np.where(found < root, high, k1)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                # What the likelihood ratio gains by one more hit.
                gain = np.log(k1 / self._p(q)) - np.log((self.n1 - k1) / self._rest(q))
                moved = k1 - (found - root) * found / gain
            done = (np.abs(moved - k1) <= 1e-8 * (1 + spread)) | never
            inside = (moved > low) & (moved < high)
            k1 = np.where(inside | done, np.clip(moved, low, high), (low + high) / 2)
            if done.all():
                break
            q = self._fitted(k1, k0, q)
        return np.where(never, self.n1 + 1.0, k1)

    def region(self, root: float, low: int, high: int) -> Region:
        """The outcomes with r >= `root`, for second counts from `low` to `high`."""
        middle = min((low + high) / 2 / self.n0, self._most)
        p = float(self._p(np.array(middle)))
        narrower = math.sqrt(min(self.n0 * middle, self.n0**2 * p * (1 - p) / self._factor**2 / self.n1))
        wanted = max(1, int(narrower / 5)) if high - low > _EVERY else 1
        step = max(wanted, -(-(high - low) // _STEPS))
        k0 = np.arange(low, high + 1, step, dtype=float)
        k1 = self.boundary(root, k0)
        if step == 1:  # every outcome counts by itself; one that is as extreme is among them
            k1 = np.ceil(k1 - 1e-6)
        elif step > wanted:
            k1 = np.append(max(0.0, 2 * k1[0] - k1[1]), k1[:-1])
        return Region(self, k0, step, k1)

    def interval(self, k0: int, level: float) -> tuple[float, float]:
        """Clopper-Pearson limits of q, which fail with probability at most `level` together."""
        low = 0.0 if k0 == 0 else float(special.betaincinv(k0, self.n0 - k0 + 1, level / 2))
        high = 1.0 if k0 == self.n0 else float(special.betainccinv(k0 + 1, self.n0 - k0, level / 2))
        return min(low, self._most), min(high, self._most)

    def p_value(self, k1: int, k0: int) -> float:
        """P-value of the claim, at least `LEAST`."""
        root = float(self.roots(np.array([k1]), np.array([k0]))[0])
        if root == 0:
            return 1.0
        # Any level below the answer is a right place to take the interval at; the normal one is near it.
        level = max(0.2 * float(special.ndtr(-root)), LEAST)
        for _ in range(4):
            found = self._worst(root, k0, level) / (1 - _NUISANCE)
            if found >= level or level <= LEAST:
                break
            level = max(found / 4, LEAST)
        return min(1.0, max(found, level))

    def power(self, p: float, q: float, alpha: float) -> float:
        """Probability of a p-value of at most `alpha` at the true probabilities (p, q).

        Where the p-value is `alpha` r hardly varies: it is found at the expected second count.
        """
        k0 = min(round(self.n0 * q), self.n0)
        goal, shift = float(-special.ndtri(alpha)), 0.0
        for _ in range(4):
            k1 = math.ceil(float(self.boundary(goal + shift, np.array([float(k0)]))[0]))
            if k1 > self.n1:
                return 0.0
            root = float(self.roots(np.array([k1]), np.array([k0]))[0])
            shift = root + float(special.ndtri(min(self.p_value(k1, k0), 0.5)))
        wide = 9 * math.sqrt(self.n0 * q) + 40
        window = max(0, math.floor(k0 - wide)), min(self.n0, math.ceil(k0 + wide))
        return float(self.region(goal + shift, *window).at(np.array([p]), np.array([q]))[0])

    def _worst(self, root: float, k0: int, level: float) -> float:
        """Largest probability of r >= `root` over the interval for q."""
        low, high = self.interval(k0, _NUISANCE * level)
        # Counts outside the window are added whole where they could matter: below it.
        wide = 1.5 + math.sqrt(2 * math.log(1 / (1e-3 * level)))
        window = (
            max(0, math.floor(self.n0 * low - wide * math.sqrt(self.n0 * low))),
            min(self.n0, math.ceil(self.n0 * high + wide * math.sqrt(self.n0 * high) + wide**2)),
        )
        region = self.region(root * (1 - 1e-9), *window)
        angles = np.linspace(math.asin(math.sqrt(low)), math.asin(math.sqrt(high)), _POINTS)
        found = region.probabilities(np.sin(angles) ** 2, level)
        best = int(np.argmax(found))
        near = np.linspace(angles[max(best - 1, 0)], angles[min(best + 1, _POINTS - 1)], _FINER)
        largest = max(float(found[best]), float(region.probabilities(np.sin(near) ** 2, level).max()))
        return largest * _MARGIN


@dataclass(frozen=True)
class Region:
    """Outcomes k1 >= `first`, by second count; what lies below its first count is all in.

    Attributes
    ----------
    test
        Sizes and claim.
    k0
        Second counts (n,), `step` apart.
    first
        The least first count (n,).
    """

    test: Design
    k0: FloatArray
    step: int
    first: FloatArray

    def probabilities(self, q: FloatArray, floor: float = LEAST) -> FloatArray:
        """Probabilities at the boundary points (e^epsilon q + delta, q), (m,)."""
        return self.at(self.test._p(q), q, floor)

    def at(self, p: FloatArray, q: FloatArray, floor: float = LEAST) -> FloatArray:
        """Probabilities at the points (p, q), (m,), to within a millionth of `floor`."""
        n1, n0 = self.test.n1, self.test.n0
        low, high = float(self.k0[0]), float(self.k0[-1]) + self.step
        weight = _mass(self.k0, n0, q[:, None]) * self.step
        used = weight > 1e-14 * floor
        tail = np.zeros(weight.shape)
        firsts, shares = np.broadcast_arrays(self.first, p[:, None])
        tail[used] = _tail(firsts[used], shares[used], n1)
        # What lies below the window is added whole, what lies above it at most at its last tail.
        below = special.betaincc(low, n0 - low + 1, q) if low > 0 else 0.0
        above = (special.betainc(high, n0 - high + 1, q) if high <= n0 else 0.0) * tail[:, -1]
        return np.asarray(np.minimum((weight * tail).sum(axis=1) + below + above, 1.0))


def _tail(first: FloatArray, p: FloatArray, n: int) -> FloatArray:
    """P(K >= first) of binomial counts, between whole numbers by the beta integral; (m,)."""
    inside = (first > 0) & (first <= n)
    a = np.where(inside, first, 1.0)
    return np.where(first <= 0, 1.0, np.where(inside, special.betainc(a, n - a + 1, p), 0.0))


def _mass(k: FloatArray, n: int, q: FloatArray) -> FloatArray:
    """Binomial probabilities of counts (n,) at q (m, 1)."""
    ways = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(np.exp(ways + special.xlogy(k, q) + special.xlog1py(n - k, -q)))
