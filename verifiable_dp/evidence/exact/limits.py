"""Two known laws: the privacy loss between them, and the most that any test of n runs can show of it.

A law is given by the log-probabilities of its atoms, -inf where it has none; a continuous law by those of
the cells of a fine grid. The best event for a test is a set of the atoms with the largest likelihood ratio
(Neyman & Pearson). What it gives at n runs is the yardstick for black boxes, which have to find it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from verifiable_dp.core import validate
from verifiable_dp.core.validate import BoolArray, FloatArray, InputError
from verifiable_dp.evidence.blackbox import statistics

_SUM = 1e-6  # by how much the probabilities may exceed 1 in total

# ---------------------------------------------------------------- divergences


def _laws(log_p: npt.ArrayLike, log_q: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    p, q = np.asarray(log_p, dtype=np.float64), np.asarray(log_q, dtype=np.float64)
    if p.ndim != 1 or p.shape != q.shape or not len(p):
        raise InputError(f"log_p and log_q must be vectors of one length >= 1, got {p.shape} and {q.shape}")
    for name, law in (("log_p", p), ("log_q", q)):
        if np.isnan(law).any() or np.logaddexp.reduce(law) > _SUM:
            raise InputError(
                f"{name} must contain log-probabilities (-inf included) of probabilities that sum to at most "
                "1"
            )
    return p, q


def log_ratio(log_p: FloatArray, log_q: FloatArray) -> FloatArray:
    """log(p / q) of each atom, (m,); 0 where neither law has it."""
    with np.errstate(invalid="ignore"):
        return np.where((log_p == -np.inf) & (log_q == -np.inf), 0.0, log_p - log_q)


def max_divergence(log_p: npt.ArrayLike, log_q: npt.ArrayLike) -> float:
    """The least epsilon at which delta is 0 in both directions: the largest abs(log(p / q)); may be inf."""
    return float(np.abs(log_ratio(*_laws(log_p, log_q))).max())


def hockey_stick(log_p: npt.ArrayLike, log_q: npt.ArrayLike, epsilon: float) -> float:
    r"""The least delta with :math:`P(S) \le e^\varepsilon Q(S) + \delta` for all S.

    .. math:: \delta(\varepsilon) = \sum_i \max(p_i - e^\varepsilon q_i, 0)

    Parameters
    ----------
    log_p, log_q : (m,) float
        Log-probabilities of the atoms under P and Q; they may lack mass.
    epsilon
        Any number; below 0 it is the divergence that bounds P from below.
    """
    p, q = _laws(log_p, log_q)
    above = (log_ratio(p, q) > epsilon) & (p > -np.inf)
    return math.fsum((np.exp(p[above]) * -np.expm1(epsilon + q[above] - p[above])).tolist())


def epsilon_of(log_p: npt.ArrayLike, log_q: npt.ArrayLike, delta: float) -> float:
    """The least epsilon >= 0 with `hockey_stick` <= `delta`; inf if there is none."""
    p, q = _laws(log_p, log_q)
    if hockey_stick(p, q, 0.0) <= delta:
        return 0.0
    ratio = log_ratio(p, q)
    order = np.argsort(-ratio, kind="stable")[: int((ratio > 0).sum())]
    p, q, ratio = p[order], q[order], ratio[order]
    # delta(epsilon) is P_i - e^epsilon Q_i between the i-th ratio and the next: find the piece, solve it.
    low, high = 0, len(p)
    while low < high:
        middle = (low + high) // 2
        if math.isfinite(ratio[middle]) and hockey_stick(p, q, float(ratio[middle])) > delta:
            high = middle
        else:
            low = middle + 1
    mass = math.fsum([*np.exp(p[:low]).tolist(), -delta])
    other = math.fsum(np.exp(q[:low]).tolist())
    return math.inf if other == 0 else max(math.log(mass) - math.log(other), 0.0)


# ---------------------------------------------------------------- the best event


@dataclass(frozen=True)
class BestEvent:
    """An event, and what a test of it shows.

    Attributes
    ----------
    atoms : (m,) bool
        The atoms that belong to it.
    flipped
        Whether it is likelier under Q: then the test is of q <= e^epsilon p + delta.
    p, q
        Its probability under P and under Q.
    k1, k0
        Median number of hits in the world that it speaks for, and in the other.
    bound
        Lower confidence bound on epsilon at these counts, at least 0.
    """

    atoms: BoolArray
    flipped: bool
    p: float
    q: float
    k1: int
    k0: int
    bound: float


def lower_bounds(k1: npt.ArrayLike, k0: npt.ArrayLike, level: float = 0.05) -> FloatArray:
    """`statistics.ratio_lower` of counts (n,), for all at once: -inf where k1 is 0.

    Parameters
    ----------
    k1, k0
        Hits in the one world and in the other, (n,), the worlds tossed by a fair coin.
    level
        Probability with which a bound may fail.
    """
    k1, k0 = np.asarray(k1, dtype=np.float64), np.asarray(k0, dtype=np.float64)
    some = k1 > 0
    share = special.betaincinv(np.maximum(k1, 1), k0 + 1, level)
    other = special.betainccinv(k0 + 1, np.maximum(k1, 1), level)
    return np.where(some, np.log(share) - np.log(other), -np.inf)


def _rough_bounds(p: FloatArray, q: FloatArray, runs: int, level: float, delta: float) -> list[FloatArray]:
    """Bounds for delta > 0 that are quick and nearly right: by two limits, and by the normal law."""
    k1, k0 = (median_counts(x, runs, delta) for x in (p, q))
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(k1 > 0, special.betaincinv(np.maximum(k1, 1), runs - k1 + 1, level / 2), 0.0)
        left = np.maximum(runs - k0, 1)
        high = np.where(k0 < runs, special.betainccinv(k0 + 1, left, level / 2), 1.0)
        excess, share = p - delta, np.maximum(q, 1 / runs)
        error = np.sqrt(p * (1 - p) / excess**2 + (1 - share) / share) / math.sqrt(runs)
        normal = np.log(excess) - np.log(share) + special.ndtri(level) * error
        exact = np.log(low - delta) - np.log(high)
    return [np.nan_to_num(bounds, nan=-np.inf, posinf=-np.inf) for bounds in (exact, normal)]


def median_counts(p: npt.ArrayLike, runs: int, delta: float = 0.0) -> FloatArray:
    """Median number of hits of events of probability p (n,) in a test with n runs a side.

    If delta is 0 each of 2 n runs is tossed one of the two worlds; else n runs are of this world. A median of
    a binomial law is its mean, rounded down or up (Kaas & Buhrman, Statistica Neerlandica 1980).
    """
    p = np.minimum(np.asarray(p, dtype=np.float64), 1.0)
    n, p = (2 * runs, p / 2) if delta == 0 else (runs, p)
    low = np.floor(n * p)
    below = special.betaincc(low + 1, np.maximum(n - low, 1), p)  # P(hits <= low), where low < n
    return np.asarray(np.where((low == n) | (below >= 0.5), low, np.ceil(n * p)))


def median_bound(p: float, q: float, runs: int, level: float = 0.05, delta: float = 0.0) -> float:
    """The lower confidence bound on epsilon that an event of probabilities p and q gives at n runs a side.

    At its median counts, by `statistics.ratio_lower` or `statistics.approximate_lower`; at least 0.
    """
    k1, k0 = (int(median_counts(x, runs, delta)) for x in (p, q))
    if delta == 0:
        return max(statistics.ratio_lower(k1, k0, level), 0.0)
    return max(statistics.approximate_lower(k1, runs, k0, runs, delta, level), 0.0)


def best_event(
    log_p: npt.ArrayLike, log_q: npt.ArrayLike, runs: int, level: float = 0.05, *, delta: float = 0.0
) -> BestEvent:
    """The event with the largest lower bound on epsilon at its median counts, in either direction.

    Atoms are taken in the order of their likelihood ratio, those with the same ratio together; the number
    of atoms is chosen for the bound. 10^5 atoms take some tenths of a second.

    Parameters
    ----------
    log_p, log_q : (m,) float
        Log-probabilities of the atoms; they may lack mass, which then belongs to no event.
    runs
        Test runs a side.
    level
        Probability with which the bound may fail.
    delta
        Of the claim; 0 for the test with tossed worlds. Above 0 the number of atoms is chosen by two
        approximations, the better of which counts.
    """
    p, q = _laws(log_p, log_q)
    validate.integer("runs", runs, least=1)
    validate.probability("level", level)
    validate.delta(delta)
    found = [_best(*laws, runs, level, delta, flipped) for flipped, laws in enumerate(((p, q), (q, p)))]
    return max(found, key=lambda event: event.bound)


def _best(
    log_p: FloatArray, log_q: FloatArray, runs: int, level: float, delta: float, flipped: int
) -> BestEvent:
    """The best event that speaks for `log_p`."""
    ratio = log_ratio(log_p, log_q)
    order = np.argsort(-ratio, kind="stable")
    last = np.append(ratio[order][1:] != ratio[order][:-1], True)  # equal ratios enter together
    ends = np.flatnonzero(last)
    p, q = (np.minimum(np.cumsum(np.exp(law[order]))[ends], 1.0) for law in (log_p, log_q))
    if delta == 0:
        bound = lower_bounds(median_counts(p, runs), median_counts(q, runs), level)
        promising = {int(np.argmax(bound))}
    else:
        promising = {int(np.argmax(bounds)) for bounds in _rough_bounds(p, q, runs, level, delta)}
    bounds = {at: median_bound(float(p[at]), float(q[at]), runs, level, delta) for at in sorted(promising)}
    at = max(bounds, key=bounds.__getitem__)
    atoms = np.zeros(len(log_p), bool)
    atoms[order[: ends[at] + 1]] = True
    one, zero = float(p[at]), float(q[at])
    k1, k0 = (int(median_counts(x, runs, delta)) for x in (one, zero))
    first, second = (zero, one) if flipped else (one, zero)
    return BestEvent(atoms, bool(flipped), first, second, k1, k0, bounds[at])
