"""Prices of shifts: the one table of what it costs to move a draw of noise, with the reason for each entry.

A shift h of a draw with density p costs the largest value of log p(z) - log p(z + h). Where log p has slopes
of at most s that is |h| s, and no more is used here: a price is the largest slope at scale 1, for a shift up
(the density falls) and for one down. It is infinite where the density is 0 on one side, so that a shift that
way leaves it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import ndtri

from verifiable_dp.core.claims import implied_epsilon, zcdp_epsilon
from verifiable_dp.core.mechanisms import wishart

_STEEP = 500.0  # a pure loss beyond it counts as infinite where exp would overflow


class PricedLaw(NamedTuple):
    """What a shift by 1 costs at scale 1.

    Attributes
    ----------
    up, down
        As pure loss, for a shift up and for one down.
    whole
        Whether the law lives on whole numbers, so that only shifts by whole numbers have a price.
    """

    up: float
    down: float
    whole: bool = False


_OF_SLOPE_1 = PricedLaw(1.0, 1.0)
_UPWARDS = PricedLaw(1.0, math.inf)
_NONE = PricedLaw(math.inf, math.inf)
_NONE_OF_WHOLE = PricedLaw(math.inf, math.inf, True)

_LAWS = {
    "laplace": _OF_SLOPE_1,  # log p = -|x| + c: slope 1 everywhere
    "logistic": _OF_SLOPE_1,  # log p = -x - 2 log(1 + exp(-x)): its slope is -tanh(x / 2)
    "cauchy": _OF_SLOPE_1,  # log p = -log(1 + x^2) + c: slope 2x / (1 + x^2), at most 1, at x = 1
    "hypsecant": _OF_SLOPE_1,  # log p = -log cosh(x) + c at this scale: slope tanh(x)
    "exponential": _UPWARDS,  # log p = -x for x > 0: slope 1; a shift down leaves x > 0
    "gumbel": _UPWARDS,  # p(x) / p(x + h) = exp(h - exp(-x) (1 - exp(-h))), at most exp(h) for h > 0
}


def law_of(name: str, parameter: float) -> PricedLaw:
    """What a shift of a law by 1 costs; infinitely much of what is not known here.

    Parameters
    ----------
    name
        Of the law.
    parameter
        ``geometric``: what a step up costs: log P(k) / P(k + 1) = -log(1 - p), at each k >= 1.
        ``two_sided_geometric``: the same of P(k) in proportion to exp(-parameter |k|), either way; that is
        the difference of two geometric draws of one chance, and discrete Laplace noise.
        ``student``: the degrees of freedom v: log p = -(v + 1) / 2 log(1 + x^2 / v), whose slope is steepest
        at x = sqrt(v), (v + 1) / (2 sqrt(v)).
    """
    if name == "geometric":
        return PricedLaw(parameter, math.inf, True) if parameter > 0 else _NONE_OF_WHOLE
    if name == "two_sided_geometric" and parameter > 0:
        return PricedLaw(parameter, parameter, True)
    if name == "unpriced":  # read off code: what it costs is not known here
        return _NONE_OF_WHOLE
    if name == "student" and parameter > 0:
        steepest = (parameter + 1) / (2 * math.sqrt(parameter))
        return PricedLaw(steepest, steepest)
    return _LAWS.get(name, _NONE)


def price(name: str, shift: float, parameter: float = 0.0) -> tuple[float, float]:
    """What a shift costs: as pure loss, and as squared shift of normal noise.

    Shifts of normal noise have no pure price. They add up as squares: noise that moves by h_1, h_2, ...
    standard deviations is as hard to tell apart as one that moves by the root of the sum of h_i^2 (Dong, Roth
    & Su, 2022).

    Parameters
    ----------
    name
        Of the law; what is not known here has no price.
    shift
        In units of the scale.
    parameter
        See `law_of`.
    """
    if not shift:
        return 0.0, 0.0
    if name == "normal":
        return 0.0, shift**2
    law = law_of(name, parameter)
    if law.whole and not float(shift).is_integer():
        return math.inf, 0.0
    return abs(shift) * (law.up if shift > 0 else law.down), 0.0


# Laws of NumPy's methods.
METHODS = {
    **{name: name for name in ("laplace", "normal", "gumbel", "logistic", "exponential", "geometric")},
    **{f"standard_{name}": name for name in ("normal", "exponential", "cauchy")},
    "standard_t": "student",
}


def parameter_of(method: str, given: float) -> float:
    """The parameter of a law from what a method of NumPy's was given: a chance, or degrees of freedom."""
    return -math.log1p(-given) if method == "geometric" else given


# ---------------------------------------------------------------- what losses and shifts come to


def of_pure(epsilon: float, name: str) -> float:
    """The ``rho`` or ``mu`` that a pure epsilon implies.

    rho = epsilon^2/2 (Bun & Steinke, TCC 2016, Proposition 1.4). mu = 2 Phi^-1(1/(1 + e^-epsilon)), at which
    the trade-off curve of normal noise passes below the corner of that of randomised response.
    """
    if name == "rho" or math.isinf(epsilon):
        return epsilon**2 / 2
    return -2 * float(ndtri(1 / (1 + math.exp(epsilon)))) if epsilon < _STEEP else math.inf


def epsilon_of_mu(mu: float, delta: float) -> float:
    """The epsilon at `delta` of mu-GDP, mu in [0, inf]; infinite at delta 0 unless mu is 0."""
    return implied_epsilon("mu", mu, delta)


def epsilon_of(
    pure: float,
    squared: float,
    delta: float,
    releases: tuple[wishart.WishartRelease, ...] = (),
    rho: float = 0.0,
) -> float:
    """Epsilon at delta of pure losses, normal noise shifted by sqrt(squared), and Wishart noise.

    `rho` is zero-concentrated differential privacy of the rest.
    """
    if squared == 0 and not releases and rho == 0:
        return pure
    if delta <= 0 or (releases and rho):
        return math.inf
    if rho:  # normal noise has half its squared shift
        return pure + zcdp_epsilon(rho + squared / 2, delta)
    if releases:
        return pure + wishart.epsilon_of(wishart.counted(releases), delta, mu=math.sqrt(squared))
    return pure + epsilon_of_mu(math.sqrt(squared), delta)
