"""Inequality bench: displayed steps of proofs, each a ratio of its two sides on a grid."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verifiable_dp.algorithms import ldp_linear
from verifiable_dp.auditing import record_parts
from verifiable_dp.core.neighbours import AnyPair
from verifiable_dp.core.validate import JsonDict
from verifiable_dp.evidence.alignment import checking, searching
from verifiable_dp.evidence.check import Check
from verifiable_dp.evidence.statement import statement
from verifiable_dp.registry.errata import Findings
from verifiable_dp.registry.sheets import Sheet, SheetRow, Text
from verifiable_dp.registry.wrapped import Listed, original

Point = Mapping[str, float]
Ratio = Callable[[Point], float]


def aligned(
    name: str,
    algorithm: Listed,
    pairs: Sequence[AnyPair],
    seed: int,
    searched: Listed | None = None,
) -> tuple[Check, searching.Found]:
    """Alignment of the pairs, and of a search on a smaller algorithm; what is found has its parameters."""
    whole, small = (
        checking.Instance(rule, rule.epsilon, record_parts.instance(original(rule), rule.epsilon))
        for rule in (algorithm, searched or algorithm)
    )
    return checking.check(whole, small, pairs, checking.Search(seed, examples=40), visible=True, name=name)


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
    ratio: Ratio
    grid: Mapping[str, Sequence[float]]

    def check(self) -> Check:
        """The largest ratio over the grid, which must be at most 1."""
        points = [dict(zip(self.grid, at, strict=True)) for at in itertools.product(*self.grid.values())]
        worst = max(points, key=self.ratio)
        words = f"largest ratio of the left side to the right side: {self.words}"
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
            printed, [step.check() for step in self.right], {**found["at"], "left over right": found["value"]}
        )


class Even(SheetRow, kw_only=True):
    """Evenly spaced values: the first, the last and their number."""

    even: tuple[float, float, int]


class StepRow(SheetRow, kw_only=True):
    """Fields of `Step`; for each variable a grid has its values, or ends and number of evenly spaced ones."""

    words: Text
    grid: dict[str, list[float] | Even]


class MendedRow(SheetRow, kw_only=True):
    """The steps of an erratum as printed, and those that hold."""

    printed: tuple[StepRow, ...]
    right: tuple[StepRow, ...]


SHEET = Sheet(__file__, forms={"steps": MendedRow})


def mended(name: str, printed: Sequence[Ratio], right: Sequence[Ratio], sheet: Sheet = SHEET) -> Mended:
    """The row ``[steps.NAME]`` with the ratio of each step."""
    row = sheet.row("steps", name)
    return Mended(_steps(row["printed"], printed), _steps(row["right"], right))


def _steps(rows: Sequence[JsonDict], ratios: Sequence[Ratio]) -> tuple[Step, ...]:
    return tuple(
        Step(row["words"], ratio, {name: _values(values) for name, values in row["grid"].items()})
        for row, ratio in zip(rows, ratios, strict=True)
    )


def _values(given: list[float] | Even) -> list[float]:
    return np.linspace(*given.even).tolist() if isinstance(given, Even) else given


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


# ---------------------------------------------------------------- Tao, Wu, Zhao & Wang


def _bonus_line(power: Callable[[float], float]) -> Ratio:
    """2 log(1/delta)^(1/(1+v)) over 10 log^power T at delta = 1/(2 T^4)."""

    def ratio(at: Point) -> float:
        log = math.log(at["T"])
        left = 2 * (math.log(2) + 4 * log) ** (1 / (1 + at["v"]))
        return float(left / (10 * log ** power(at["v"])))

    return ratio


def _epochs(after: float | None) -> Ratio:
    """2^((1+v)/v) R_1 with K arms over R_2 with `after` arms, or with K again; u = epsilon = 1."""

    def ratio(at: Point) -> float:
        def pulls(size: float, tau: int) -> float:
            power = _power(at["v"])
            return float((24 * 2.0**tau) ** power * math.log(4 * size * tau**2 / at["beta"]) + 1)

        return 2 ** _power(at["v"]) * pulls(at["K"], 1) / pulls(after or at["K"], 2)

    return ratio


def _geometric(sign: float) -> Ratio:
    """sum_(tau <= last) q^(tau - last) over sum_(i >= 0) 4^(-i (1+v)/v), q = 4^(sign (1+v)/v)."""

    def ratio(at: Point) -> float:
        power, last = _power(at["v"]), int(at["tau(a)"])
        left = math.fsum(4.0 ** (sign * power * (tau - last)) for tau in range(1, last + 1))
        return left * (1 - float(4.0**-power))

    return ratio


def _first_epoch(at: Point) -> float:
    """Delta over 2 D, D = 2^-tau at the first epoch tau >= 1 with D <= Delta."""
    return at["Delta"] / (2 * 2.0 ** -max(1, math.ceil(-math.log2(at["Delta"]))))


def _exponential(factor: float) -> Ratio:
    return lambda at: (math.expm1(at["epsilon"]) / at["epsilon"]) ** 2 / factor


# ---------------------------------------------------------------- Hanna, Girgis, Fragouli & Diggavi


def _outline(at: Point) -> float:
    """2 gamma over the least difference of estimates that the good event allows, in units of Delta."""
    return 2 * at["gamma/Delta"] / (1 - 2 * at["gamma/Delta"])


def _width(factor: float) -> Ratio:
    """gamma_i of Lemma 5 over its bound in B.2, in units of sqrt(log(4KT^2)/q^i), at n_i = fill q^i."""

    def ratio(at: Point) -> float:
        root, noise = 2 * math.sqrt(at["d"]), 2 * at["d"] / at["eps0"]
        return (root + noise * math.sqrt(at["n/q"])) / (root + factor * noise)

    return ratio


def _removed(corrected: bool) -> Ratio:
    """T times the probability that batch 1 of Algorithm 2 removes the best of the actions 1 and -1.

    theta = 1/2 and rewards are certain. Of three reports the mean falls below -gamma, gamma as in line 12 or
    as in `ldp_linear.width`; three Laplace draws exceed x in sum with probability e^-x (x^2 + 5x + 8)/16.
    """

    def ratio(at: Point) -> float:
        pulls, log = math.exp(1 + math.log(2) / at["log T"]), math.log(8) + 2 * at["log T"]
        if corrected:
            gamma, scale = ldp_linear.width(pulls, 1, log, at["eps0"]), 2 / at["eps0"]
        else:
            gamma, scale = ldp_linear.printed_width(pulls, 3, 1, log, at["eps0"]), 1 / at["eps0"]
        x = 3 * (gamma + 0.5) / scale
        return math.exp(at["log T"] - x) * (x * x + 5 * x + 8) / 16

    return ratio


def _short_batch(bound: float) -> Ratio:
    """Regret of a batch over bound B d, in one dimension.

    The best action is 1, and B d core actions lie at -1 or so. One of them has nearly all of the weight and
    is pulled q^i times, the others once: Lemma 2 allows it.
    """
    return lambda at: 1.999 * (at["Bd"] - 1 + at["q^i"]) / (bound * at["Bd"])


SAJED = {"explicit-pulls": mended("explicit-pulls", [_explicit_pulls], [_explicit_pulls])}
TAO = {
    "bonus-step": mended(
        "bonus-step", [_bonus_line(lambda v: v / (1 + v))], [_bonus_line(lambda v: 1 / (1 + v))]
    ),
    "epochs-grow": mended("epochs-grow", [_epochs(2.0)], [_epochs(None)]),
    "gaps-above-one": mended("gaps-above-one", [_first_epoch], [_first_epoch]),
    "local-sum": mended("local-sum", [_geometric(-1.0)], [_geometric(1.0)]),
    "exponential-step": mended("exponential-step", [_exponential(1.0)], [_exponential(3.0)]),
}
HANNA = {
    "short-batch": mended("short-batch", [_short_batch(2.0)], [_short_batch(4.0)]),
    "outline-gap": mended("outline-gap", [_outline], [_outline]),
    "local-regret": mended("local-regret", [_removed(False)], [_removed(True)]),
    "local-width": mended("local-width", [_width(1.0)], [_width(math.sqrt(2))]),
}
