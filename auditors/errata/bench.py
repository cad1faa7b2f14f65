"""Inequality bench: displayed steps of proofs, each a ratio of its two sides on a grid."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Findings

Point = Mapping[str, float]


@dataclass(frozen=True)
class Step:
    """An inequality left <= right, as left/right at every point of a grid.

    Parameters
    ----------
    words
        The inequality.
    ratio
        Left side over right side, at a point.
    grid
        Values of each variable.
    """

    words: str
    ratio: Callable[[Point], float]
    grid: Mapping[str, Sequence[float]]

    def check(self) -> Check:
        """The largest ratio over the grid, which must be at most 1."""
        points = [dict(zip(self.grid, at, strict=True)) for at in itertools.product(*self.grid.values())]
        worst = max(points, key=self.ratio)
        words = f"largest left/right of {self.words}"
        return statement(
            words, self.ratio(worst), "at most", 1.0, tolerance=1e-9, points=len(points), at=worst
        )


@dataclass(frozen=True)
class Mended:
    """A step as printed, which fails, and what holds instead; the evidence of an erratum.

    Parameters
    ----------
    printed, right
        Steps.
    """

    printed: tuple[Step, ...]
    right: tuple[Step, ...]

    def __call__(self, seed: int) -> Findings:
        """Checks of both; the worst point of the first printed step is the counterexample."""
        printed = [step.check() for step in self.printed]
        found = printed[0].statistics
        return Findings(
            printed,
            [step.check() for step in self.right],
            {**found["at"], "left over right": found["value"]},
        )


_EPSILONS = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
_MOMENTS = (0.1, 0.25, 0.5, 0.75, 1.0)
_HORIZONS = tuple(10.0**n for n in range(3, 13))


def _power(v: float) -> float:
    return (1 + v) / v


# ---------------------------------------------------------------- Sajed & Sheffet


def _explicit_pulls(at: Point) -> float:
    """Sum of R_e, e up to the first with 2^-e <= Delta and |S| = K, over the last line of Lemma 4.2."""
    k, gap, beta, epsilon = at["K"], at["Delta"], at["beta"], at["epsilon"]
    e = np.arange(1, max(1, math.ceil(-math.log2(gap))) + 1)
    sampling = 32 * np.log(8 * k * e**2 / beta) * 4.0**e
    privacy = 8 * np.log(4 * k * e**2 / beta) * 2.0**e / epsilon
    bound = math.log(k * math.log(2 / gap) / beta) * (1024 / gap**2 + 96 / (epsilon * gap))
    return float(np.maximum(sampling, privacy).sum() + len(e)) / bound


_PULLS_GRID = {
    "K": (2.0, 3.0, 5.0, 20.0),
    "Delta": (1.0, 0.75, 0.501, 0.5, 0.3, 0.25, 0.1, 0.01),
    "epsilon": (0.01, 0.1, 1.0, 10.0),
}
EXPLICIT_PULLS = Mended(
    (
        Step(
            "R_1 + ... + R_e(a) <= log(K log(2/Delta)/beta) (1024/Delta^2 + 96/(eps Delta)), beta to .99",
            _explicit_pulls,
            {**_PULLS_GRID, "beta": (0.99, 0.5, 0.1, 1e-3, 1e-9)},
        ),
    ),
    (Step("the same, beta at most .5", _explicit_pulls, {**_PULLS_GRID, "beta": (0.5, 0.1, 1e-3, 1e-9)}),),
)


# ---------------------------------------------------------------- Tao, Wu, Zhao & Wang


def _bonus_line(power: Callable[[float], float]) -> Callable[[Point], float]:
    """2 log(1/delta)^(1/(1+v)) over 10 log^power T at delta = 1/(2 T^4)."""

    def ratio(at: Point) -> float:
        log = math.log(at["T"])
        left = 2 * (math.log(2) + 4 * log) ** (1 / (1 + at["v"]))
        return float(left / (10 * log ** power(at["v"])))

    return ratio


_BONUS_GRID = {"v": _MOMENTS, "T": _HORIZONS}
BONUS_LINE = Mended(
    (
        Step(
            "2 log(1/delta)^(1/(1+v)) <= 10 log^(v/(1+v)) T, delta = 1/(2T^4)",
            _bonus_line(lambda v: v / (1 + v)),
            _BONUS_GRID,
        ),
    ),
    (
        Step(
            "2 log(1/delta)^(1/(1+v)) <= 10 log^(1/(1+v)) T, delta = 1/(2T^4)",
            _bonus_line(lambda v: 1 / (1 + v)),
            _BONUS_GRID,
        ),
    ),
)


def _epochs(after: float | None) -> Callable[[Point], float]:
    """2^((1+v)/v) R_1 with K arms over R_2 with `after` arms, or with K again; u = epsilon = 1."""

    def ratio(at: Point) -> float:
        def pulls(size: float, tau: int) -> float:
            power = _power(at["v"])
            return float((24 * 2.0**tau) ** power * math.log(4 * size * tau**2 / at["beta"]) + 1)

        return 2 ** _power(at["v"]) * pulls(at["K"], 1) / pulls(after or at["K"], 2)

    return ratio


_EPOCH_GRID = {"v": (0.25, 0.5, 1.0), "K": (2.0, 5.0, 20.0, 1000.0), "beta": (0.1, 1e-3, 1e-6)}
EPOCH_SUM = Mended(
    (Step("2^((1+v)/v) R_1 <= R_2 where S shrinks from K to 2 arms", _epochs(2.0), _EPOCH_GRID),),
    (Step("2^((1+v)/v) R_1 <= R_2 with K instead of |S| in both", _epochs(None), _EPOCH_GRID),),
)


def _geometric(sign: float) -> Callable[[Point], float]:
    """sum_(tau <= last) q^(tau - last) over sum_(i >= 0) 4^(-i (1+v)/v), q = 4^(sign (1+v)/v)."""

    def ratio(at: Point) -> float:
        power, last = _power(at["v"]), int(at["tau(a)"])
        left = math.fsum(4.0 ** (sign * power * (tau - last)) for tau in range(1, last + 1))
        return left * (1 - float(4.0**-power))

    return ratio


_SUM_GRID = {"v": (0.25, 0.5, 1.0), "tau(a)": (1.0, 2.0, 3.0, 5.0)}
_SUM = "sum_(tau <= tau(a)) (4^({}(1+v)/v))^(tau - tau(a)) <= sum_(i >= 0) (4^(-(1+v)/v))^i"
GEOMETRIC_SUM = Mended(
    (Step(_SUM.format("-"), _geometric(-1.0), _SUM_GRID),),
    (Step(_SUM.format(""), _geometric(1.0), _SUM_GRID),),
)


def _first_epoch(at: Point) -> float:
    """Delta over 2 D, D = 2^-tau at the first epoch tau >= 1 with D <= Delta."""
    return at["Delta"] / (2 * 2.0 ** -max(1, math.ceil(-math.log2(at["Delta"]))))


FIRST_EPOCH = Mended(
    (
        Step(
            "Delta_a <= 2 D_tau(a), gaps to 4", _first_epoch, {"Delta": (0.01, 0.1, 0.5, 1.0, 1.5, 2.0, 4.0)}
        ),
    ),
    (Step("Delta_a <= 2 D_tau(a), gaps to 1", _first_epoch, {"Delta": np.linspace(0.001, 1, 400).tolist()}),),
)


def _exponential(factor: float) -> Callable[[Point], float]:
    return lambda at: (math.expm1(at["epsilon"]) / at["epsilon"]) ** 2 / factor


EXPONENTIAL = Mended(
    (Step("8 (e^eps - 1)^2 <= 8 eps^2, eps in (0, 1]", _exponential(1.0), {"epsilon": _EPSILONS}),),
    (Step("8 (e^eps - 1)^2 <= 24 eps^2, eps in (0, 1]", _exponential(3.0), {"epsilon": _EPSILONS}),),
)


# ---------------------------------------------------------------- Hanna, Girgis, Fragouli & Diggavi


def _outline(at: Point) -> float:
    """2 gamma over the least difference of estimates that the good event allows, in units of Delta."""
    return 2 * at["gamma/Delta"] / (1 - 2 * at["gamma/Delta"])


OUTLINE = Mended(
    (
        Step(
            "2 gamma <= Delta - 2 gamma (what removes an action), gamma < Delta/2",
            _outline,
            {"gamma/Delta": (0.1, 0.2, 0.25, 0.3, 0.4, 0.49)},
        ),
    ),
    (
        Step(
            "2 gamma <= Delta - 2 gamma, gamma < Delta/4",
            _outline,
            {"gamma/Delta": np.linspace(0.001, 0.2499, 50).tolist()},
        ),
    ),
)


def _width(factor: float) -> Callable[[Point], float]:
    """gamma_i of Lemma 5 over its bound in B.2, in units of sqrt(log(4KT^2)/q^i), at n_i = fill q^i."""

    def ratio(at: Point) -> float:
        root, noise = 2 * math.sqrt(at["d"]), 2 * at["d"] / at["eps0"]
        return (root + noise * math.sqrt(at["n/q"])) / (root + factor * noise)

    return ratio


_WIDTH_GRID = {"d": (1.0, 2.0, 10.0, 100.0), "eps0": (0.01, 0.1, 1.0, 10.0), "n/q": (1.0, 1.5, 2.0)}
LOCAL_WIDTH = Mended(
    (
        Step(
            "gamma_i <= sqrt(4d L/q^i) + (2d/eps0) sqrt(L/q^i), q^i <= n_i <= 2q^i", _width(1.0), _WIDTH_GRID
        ),
    ),
    (Step("the same with sqrt(2) 2d/eps0", _width(math.sqrt(2)), _WIDTH_GRID),),
)


def _short_batch(bound: float) -> Callable[[Point], float]:
    """Regret of a batch over bound B d, in one dimension.

    The best action is 1, and B d core actions lie at -1 or so. One of them has nearly all of the weight and
    is pulled q^i times, the others once: Lemma 2 allows it.
    """
    return lambda at: 1.999 * (at["Bd"] - 1 + at["q^i"]) / (bound * at["Bd"])


_BATCH_GRID = {"Bd": (16.0,), "q^i": tuple(float(q) for q in range(2, 16))}
SHORT_BATCH = Mended(
    (Step("regret of a batch with q^i < Bd <= 2Bd", _short_batch(2.0), _BATCH_GRID),),
    (Step("regret of a batch with q^i < Bd <= 4Bd", _short_batch(4.0), _BATCH_GRID),),
)

SAJED = {"explicit-pulls": EXPLICIT_PULLS}
TAO = {
    "bonus-step": BONUS_LINE,
    "epochs-grow": EPOCH_SUM,
    "gaps-above-one": FIRST_EPOCH,
    "local-sum": GEOMETRIC_SUM,
    "exponential-step": EXPONENTIAL,
}
HANNA = {"short-batch": SHORT_BATCH, "outline-gap": OUTLINE, "local-width": LOCAL_WIDTH}
