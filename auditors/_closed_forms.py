"""Bounds of the papers in closed form, from numbers alone.

No algorithm is asked for its epochs, widths or failure probabilities: one whose schedule is wrong would move
the limit that it is held to. Every failure probability is 1/T, and once in T the regret is T times a gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from verifiable_dp.core.validate import FloatArray


def from_pulls(gaps: FloatArray, horizon: float, pulls: Callable[[float], float]) -> float:
    """Sum of the gaps times the pulls of an arm that far behind, at most T, and the largest gap once."""
    bad = [float(gap) for gap in gaps if gap > 0]
    return sum(gap * min(pulls(gap), horizon) for gap in bad) + max(bad, default=0.0)


def first_epoch(gap: float) -> int:
    """The first epoch tau with 2^-tau <= gap."""
    return max(1, math.ceil(math.log2(1 / min(gap, 1.0))))


def _up_to(gaps: FloatArray, horizon: float, length: Callable[[int], float]) -> float:
    """Regret of an elimination whose epoch tau has so many pulls of each arm and removes gaps of 2^-tau."""

    def pulls(gap: float) -> float:
        return sum(math.ceil(length(tau)) for tau in range(1, first_epoch(gap) + 1))

    return from_pulls(gaps, horizon, pulls)


def horizons(first: float, ratio: float, number: int) -> tuple[int, ...]:
    """Horizons T of which T/log T grows by `ratio`: in units of pulls like log T/gap^p, steps are equal."""
    scale, found = first / math.log(first), []
    for j in range(number):
        horizon = first
        for _ in range(50):
            horizon = scale * ratio**j * math.log(horizon)
        found.append(round(horizon))
    return tuple(found)


# ---------------------------------------------------------------- Sajed & Sheffet


def dp_se(gaps: FloatArray, horizon: float, epsilon: float) -> float:
    """Mean regret of DP-SE: every R_e of Algorithm 3 up to the first epoch with 2^-e <= gap (Lemma 4.2).

    R_e = max(32 log(8 K e^2 T) 4^e, 8 log(4 K e^2 T) 2^e/epsilon) + 1. The lemma itself bounds their sum by
    log(K log(2/gap) T) (1024/gap^2 + 96/(epsilon gap)), which is some twenty times as much.
    """

    def length(e: int) -> float:
        log = math.log(4 * len(gaps) * e**2 * horizon)
        return float(max(32 * (log + math.log(2)) * 4.0**e, 8 * log * 2.0**e / epsilon) + 1)

    return _up_to(gaps, horizon, length)


# ---------------------------------------------------------------- Tao, Wu, Zhao & Wang


def dp_robust_se(
    gaps: FloatArray, horizon: float, epsilon: float, v: float, u: float = 1.0, factor: float = 1.0
) -> float:
    """Mean regret of DP Robust SE: every R_tau of Algorithm 3 up to the first epoch with D <= gap.

    R_tau = u^(1/v) (24/D)^((1+v)/v) log(4 K tau^2 T)/epsilon + 1; `factor` is one on the constant 24.
    """

    def length(tau: int) -> float:
        log = math.log(4 * len(gaps) * tau**2 * horizon)
        return float(u ** (1 / v) * (24 * factor * 2.0**tau) ** ((1 + v) / v) * log / epsilon + 1)

    return _up_to(gaps, horizon, length)


def ldp_robust_se(
    gaps: FloatArray, horizon: float, epsilon: float, v: float, u: float = 1.0, factor: float = 1.0
) -> float:
    """Mean regret of LDP Robust SE: every R_tau of Algorithm 4, with D = 2^-tau as in its proof.

    R_tau = u^(2/v) (28/D)^(2(1+v)/v) l/epsilon^2 + l, l = log(8 K tau^2 T).
    """

    def length(tau: int) -> float:
        log = math.log(8 * len(gaps) * tau**2 * horizon)
        return float(u ** (2 / v) * (28 * factor * 2.0**tau) ** (2 * (1 + v) / v) * log / epsilon**2 + log)

    return _up_to(gaps, horizon, length)


# ---------------------------------------------------------------- Wu, Zhou, Tao & Wang


def robust_deviation(n: float, k: float, epsilon: float, alpha: float, failure: float) -> float:
    """Beta of n rewards with E|X|^k <= 1, of which a share alpha is contaminated; ours, for every n.

    sqrt(2 (1 + alpha M^2) l/n) + 2 M l/(3 n) + 2 M log(2/delta)/(n epsilon) + M^(1-k) + alpha (M + 1) with
    l = log(4/delta), M = min((n epsilon/log(1/delta))^(1/k), alpha^(-1/k)).
    """
    most = n * epsilon / math.log(1 / failure)
    limit = (min(most, 1 / alpha) if alpha else most) ** (1 / k)
    log = math.log(4 / failure)
    sampling = math.sqrt(2 * (1 + alpha * limit**2) * log / n) + 2 * limit * log / (3 * n)
    noise = 2 * limit * math.log(2 / failure) / (n * epsilon)
    return float(sampling + noise + limit ** (1 - k) + alpha * (limit + 1))


def robust_failure(n_arms: int, horizon: float) -> float:
    """1/(T K log2 T): one of all estimates of a run fails once in T."""
    return 1 / (horizon * n_arms * math.log2(horizon))


def dp_robust_elimination(
    gaps: FloatArray, horizon: float, epsilon: float, k: float, alpha: float = 0.0
) -> float:
    """Mean regret of the elimination for raw moments: batches of 2^tau up to the first with 4 beta < gap."""
    failure = robust_failure(len(gaps), horizon)
    last = math.ceil(math.log2(horizon))
    widths = [4 * robust_deviation(2.0**tau, k, epsilon, alpha, failure) for tau in range(1, last + 1)]

    def pulls(gap: float) -> float:
        told = next((tau for tau, width in enumerate(widths, start=1) if width < gap), last)
        return 2.0 ** (told + 1) - 2

    return from_pulls(gaps, horizon, pulls)


# ---------------------------------------------------------------- Hanna, Girgis, Fragouli & Diggavi


def batch_growth(horizon: float) -> float:
    """q = (2T)^(1/log T) of line 3."""
    return float((2 * horizon) ** (1 / math.log(horizon)))


def linear_width(
    pulls: float, dimension: int, n_actions: int, horizon: float, epsilon: float, *, local: bool
) -> float:
    """gamma of a batch of q^i = `pulls`: what estimates err by, but with probability 1/T for all of them.

    sqrt(4 d L/q^i), L = log(4 |A| T^2), and for the noise Lap(2/epsilon) of sums 4 d (|C| + L)/(epsilon q^i),
    |C| <= min(|A|, 4 d log log d + 16), or of reports (2/epsilon) sqrt(8 L max(Q, Q^2 L)), Q = 2 d/q^i.
    """
    d, log = dimension, math.log(4 * n_actions * horizon**2)
    sampling = math.sqrt(4 * d * log / pulls)
    if local:
        norm = 2 * d / pulls
        return sampling + 2 / epsilon * math.sqrt(8 * log * max(norm, norm**2 * log))
    return sampling + 4 * d * (core_size(d, n_actions) + log) / (epsilon * pulls)


def core_size(dimension: int, n_actions: int) -> float:
    """min(|A|, 4 d log log d + 16) of Lemma 2."""
    inner = math.log(max(math.log(dimension), 1.0)) if dimension > 1 else 0.0
    return min(float(n_actions), 4 * dimension * inner + 16)


def linear(gaps: FloatArray, horizon: float, epsilon: float, dimension: int, *, local: bool) -> float:
    """Mean regret of Algorithm 1 or 2: the sum in (16) with numbers.

    A batch of q^i + |C| rounds costs at most the largest gap up to 4 gamma of the batch before, the rounds
    after the last batch at most 2 gamma each.
    """
    most, core = float(gaps.max()), core_size(dimension, len(gaps))
    left, total, gap, width, q = float(horizon), 0.0, most, math.inf, batch_growth(horizon)
    for batch in range(1, math.floor(math.log(horizon))):
        rounds = min(left, q**batch + core)
        total += rounds * gap
        left -= rounds
        width = linear_width(q**batch, dimension, len(gaps), horizon, epsilon, local=local)
        gap = float(gaps[gaps <= 4 * width].max())
    return total + left * float(gaps[gaps <= 2 * width].max()) + most
