"""Regret on the path on which every mean is its expectation, from numbers alone.

This is not a bound, since a run may be unlucky. Where widths are many standard deviations, as at long
horizons, runs keep close to it. It lacks the room that proofs leave, so that a rule which pulls three times
as often as its listing is seen. No algorithm is asked for more than its parameters, as in `_closed_forms`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from verifiable_dp.algorithms._robust import factor_of
from verifiable_dp.algorithms.dp_klucb import divergence
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.mechanisms import shuffle
from verifiable_dp.core.validate import FloatArray
from verifiable_dp.registry.study import Cell
from verifiable_dp.registry.wrapped import Listed

TSALLIS = 2.35
Epoch = Callable[[int, int], tuple[float, float]]


def eliminated(gaps: FloatArray, horizon: float, epoch: Epoch) -> float:
    """Of an elimination: `epoch(tau, |S|)` is the pulls of an arm, and the gap that removes one."""
    active, left, total = np.sort(gaps), float(horizon), 0.0
    for tau in range(1, 200):
        length, limit = epoch(tau, len(active))
        rounds = min(len(active) * math.ceil(length), left)
        total += rounds * float(active.mean())
        left -= rounds
        active = active[active <= limit]
        if left <= 0 or len(active) == 1:
            break
    return total


def pulled(made: Cell, enough: Callable[[float, float], bool], growth: float = 2.0) -> float:
    """Of phases that multiply an arm's pulls by `growth`, until `enough(pulls, mean)`."""
    total = 0.0
    for mean, gap in zip(_means(made), made.gaps.tolist(), strict=True):
        n = 1
        while gap > 0 and n < made.algorithm.horizon and not enough(float(n), mean):
            n += max(1, math.ceil((growth - 1) * n))
        total += gap * n
    return total


def _sums(made: Cell, pulls: Callable[[float], float]) -> float:
    """Of arms that are pulled so often, by their gaps."""
    gaps = made.gaps
    return float(sum(gap * min(pulls(gap), made.algorithm.horizon) for gap in gaps[gaps > 0].tolist()))


def _log(made: Cell) -> float:
    return math.log(made.algorithm.horizon)


def _means(made: Cell) -> tuple[float, ...]:
    where = made.environment
    assert isinstance(where, TwoPoint), "the arms of these studies have two rewards"
    return where.means


# ---------------------------------------------------------------- eliminations


def se(made: Cell) -> float:
    """The first sweep r with 2 sqrt(log(4 K r^2 T)/(2 r)) < gap."""
    rule: Listed = made.algorithm

    def pulls(gap: float) -> float:
        r = 1.0
        for _ in range(60):
            r = max(2 * math.log(4 * rule.n_arms * r**2 * rule.horizon) / gap**2, 1.0)
        return r

    return _sums(made, pulls)


def _dp_se(gaps: FloatArray, horizon: float, epsilon: float, rounds: float) -> float:
    def epoch(e: int, size: int) -> tuple[float, float]:
        h, c = math.log(8 * size * e**2 * horizon), math.log(4 * size * e**2 * horizon)
        length = max(32 * h * 4.0**e, 8 * c * 2.0**e / epsilon) + 1
        return length, 2 * math.sqrt(h / (2 * length)) + 2 * c / (length * epsilon)

    return eliminated(gaps, rounds, epoch)


def dp_se(made: Cell) -> float:
    """Algorithm 3 of Sajed & Sheffet."""
    rule: Listed = made.algorithm
    return _dp_se(made.gaps, rule.horizon, rule.epsilon, rule.horizon)


def dp_se_doubling(made: Cell) -> float:
    """The same anew for every guess g of T, for the rounds from g/4 to g/2."""
    rule: Listed = made.algorithm
    total, guess, start = 0.0, rule.first_guess, 0
    while start < rule.horizon:
        end = min(guess // 2, rule.horizon)
        total += _dp_se(made.gaps, guess, rule.epsilon, end - start)
        guess, start = 2 * guess, end
    return total


def dist_dp_se(made: Cell) -> float:
    """Batches of 2^b with twice beta(b)."""
    rule: Listed = made.algorithm

    def epoch(b: int, size: int) -> tuple[float, float]:
        tail, pulls = math.log(2 * size * b**2 * rule.horizon), 2.0**b
        noise = (math.sqrt(2 * tail) + tail) / (rule.epsilon * pulls)
        return pulls, 2 * (math.sqrt((tail + math.log(2)) / (2 * pulls)) + noise)

    return eliminated(made.gaps, rule.horizon, epoch)


def shuffled_se(made: Cell) -> float:
    """Batches of 2^b with twice the radius for reports with Lap(1/eps0)."""
    rule: Listed = made.algorithm

    def epoch(b: int, size: int) -> tuple[float, float]:
        log, pulls = math.log(8 * size * b**2 * rule.horizon), 2**b
        scale = 1 / shuffle.local_epsilon(rule.epsilon, pulls, rule.delta)
        noise = scale * math.sqrt(8 * log * max(pulls, log)) / pulls
        return pulls, 2 * (math.sqrt(log / (2 * pulls)) + noise)

    return eliminated(made.gaps, rule.horizon, epoch)


def dp_robust_se(made: Cell) -> float:
    """R_tau of Algorithm 3 of Tao et al., with 12 err: half of the D that R_tau resolves."""
    rule: Listed = made.algorithm
    factor = factor_of(rule.constants)

    def epoch(tau: int, size: int) -> tuple[float, float]:
        log = math.log(4 * size * tau**2 / rule.beta)
        power = (1 + rule.v) / rule.v
        length = rule.u ** (1 / rule.v) * (24 * factor * 2.0**tau) ** power * log / rule.epsilon + 1
        error = rule.u ** (1 / (1 + rule.v)) * (log / (length * rule.epsilon)) ** (1 / power)
        return length, 12 * factor * error

    return eliminated(made.gaps, rule.horizon, epoch)


def ldp_robust_se(made: Cell) -> float:
    """R_tau of Algorithm 4 of Tao et al., corrected, with 14 err."""
    rule: Listed = made.algorithm
    factor = factor_of(rule.constants)

    def epoch(tau: int, size: int) -> tuple[float, float]:
        log = math.log(8 * size * tau**2 * rule.horizon)
        power = 2 * (1 + rule.v) / rule.v
        length = rule.u ** (2 / rule.v) * (28 * factor * 2.0**tau) ** power * log / rule.epsilon**2 + log
        error = rule.u ** (1 / (1 + rule.v)) * (math.sqrt(log / length) / rule.epsilon) ** (2 / power)
        return length, 14 * factor * error

    return eliminated(made.gaps, rule.horizon, epoch)


def linear_elimination(made: Cell) -> float:
    """Phases of 4 d 4^l log(K l (l + 1) T) rounds; actions 2 2^-l behind leave."""
    rule: Listed = made.algorithm

    def epoch(phase: int, size: int) -> tuple[float, float]:
        log = math.log(rule.n_arms * phase * (phase + 1) * rule.horizon)
        return 4 * rule.dimension * 4.0**phase * log / size, 2 * 2.0**-phase

    return eliminated(made.gaps, rule.horizon, epoch)


def adac_gope(made: Cell) -> float:
    """Phases of 2 d/y rounds; actions 2 w behind leave: y and w as the listing has them."""
    rule: Listed = made.algorithm
    d = rule.dimension
    most = closed_forms.core_size(d, rule.n_arms)

    def epoch(phase: int, size: int) -> tuple[float, float]:
        log = math.log(2 * rule.n_arms * phase * (phase + 1) * rule.horizon)
        rounds = 2 * d * log * 4.0**phase * (1 + math.sqrt(1 + 4 * most / (rule.rho * 4.0**phase * log)))
        y = 2 * d / rounds
        return rounds / size, 2 * math.sqrt(2 * log * (y + 2 / rule.rho * min(size, d) * y**2))

    return eliminated(made.gaps, rule.horizon, epoch)


# ---------------------------------------------------------------- indices


def ucb1(made: Cell) -> float:
    """sqrt(2 log T/n) = gap."""
    return _sums(made, lambda gap: 2 * _log(made) / gap**2)


def dp_ucb(made: Cell) -> float:
    """sqrt(2 log T/n) + Gamma/n = gap, Gamma of the whole budget for each arm."""
    rule: Listed = made.algorithm
    log = _log(made)
    width = log**2 * math.log(rule.n_arms * rule.horizon * log / rule.gamma) / rule.epsilon
    return _sums(made, lambda gap: float(closed_forms.ucb_pulls(2 * gap, rule.horizon, width)))


def robust_ucb(made: Cell) -> float:
    """4 u^(1/(1+v)) (2 log T/n)^(v/(1+v)) = gap, and what the best arm's bonus is after T."""
    rule: Listed = made.algorithm
    factor, power = 4 * rule.u ** (1 / (1 + rule.v)), (1 + rule.v) / rule.v
    own = factor * (2 * _log(made) / rule.horizon) ** (1 / power)
    return _sums(made, lambda gap: (factor / (gap + own)) ** power * 2 * _log(made))


def dp_robust_ucb(made: Cell) -> float:
    """The bonus of Algorithm 1 of Tao et al., times `constants`, is the gap and the best arm's after T."""
    rule: Listed = made.algorithm
    about = rule.horizon, rule.epsilon, rule.v, rule.u, 18 * factor_of(rule.constants)
    own = (float(closed_forms.dp_robust_ucb_pulls(1.0, *about)) / rule.horizon) ** (rule.v / (1 + rule.v))
    return _sums(made, lambda gap: float(closed_forms.dp_robust_ucb_pulls(gap + own, *about)))


def ldp_ucb(made: Cell) -> float:
    """(sqrt 2 + sqrt 32/epsilon) sqrt(log T/n) = gap and the best arm's after T, or 4 log T pulls."""
    spread = _log(made) * (math.sqrt(2) + math.sqrt(32) / made.algorithm.epsilon) ** 2  # type: ignore[attr-defined]
    own = math.sqrt(spread / made.algorithm.horizon)
    return _sums(made, lambda gap: max(4 * _log(made), spread / (gap + own) ** 2))


def adap_ucb(made: Cell) -> float:
    """An episode of n with sqrt(alpha log(2T)/(2n)) + alpha log T/(epsilon n) <= gap, and double."""
    rule: Listed = made.algorithm
    best, log = max(_means(made)), rule.alpha * _log(made)

    def enough(n: float, mean: float) -> bool:
        last = max(n / 2, 1.0)
        spread = math.sqrt((log + rule.alpha * math.log(2)) / (2 * last))
        return bool(spread + log / (rule.epsilon * last) <= best - mean)

    return pulled(made, enough)


def adac_ucb(made: Cell) -> float:
    """The same with sqrt(beta log T (1/(2n) + 1/(rho n^2)))."""
    rule: Listed = made.algorithm
    best = max(_means(made))

    def enough(n: float, mean: float) -> bool:
        last = max(n / 2, 1.0)
        variance = 1 / (2 * last) + 1 / (rule.rho * last**2)
        return bool(math.sqrt(rule.beta * _log(made) * variance) <= best - mean)

    return pulled(made, enough)


def optimistic(made: Cell, entropy: float, noise: float, last: Callable[[float], float]) -> float:
    """Mean plus `noise`/(epsilon n) lies by the relative entropy `entropy`/n below the best, and double."""
    rule: Listed = made.algorithm
    best = max(_means(made))

    def enough(n: float, mean: float) -> bool:
        batch = last(n)
        raised = mean + noise / (rule.epsilon * batch)
        return raised < best and batch * float(divergence(raised, best, 1e3)) >= entropy

    return pulled(made, enough)


def adap_klucb(made: Cell) -> float:
    """Entropy and noise of alpha log T."""
    log = made.algorithm.alpha * _log(made)  # type: ignore[attr-defined]
    return optimistic(made, log, log, lambda n: max(n / 2, 1.0))


def lazy_dp_ts(made: Cell) -> float:
    """Entropy of log T, noise of 3 log T."""
    return optimistic(made, _log(made), 3 * _log(made), lambda n: max(n / 2, 1.0))


def dp_klucb(made: Cell) -> float:
    """n d_epsilon(mean, best) >= log T + 3 log(1 + log T)."""
    rule: Listed = made.algorithm
    best, level = max(_means(made)), _log(made) + 3 * math.log1p(_log(made))
    return pulled(made, lambda n, mean: n * float(divergence(mean, best, rule.epsilon)) >= level, rule.growth)


def dp_imed(made: Cell) -> float:
    """n d_epsilon(mean, best) - c m + log n >= log T, m = 1 + log n/log growth."""
    rule: Listed = made.algorithm
    best = max(_means(made))

    def enough(n: float, mean: float) -> bool:
        sums = 1 + math.log(n) / math.log(rule.growth)
        far = n * float(divergence(mean, best, rule.epsilon)) - rule.charge * sums
        return bool(max(far, 0.0) + math.log(n) >= _log(made))

    return pulled(made, enough, rule.growth)


# ---------------------------------------------------------------- adversarial rules on stochastic arms


def exp3(made: Cell) -> float:
    """Batches with the chances that exact sums of losses give; b, h and g as the listing has them."""
    rule: Listed = made.algorithm
    b, k = math.ceil(1 / rule.epsilon), rule.n_arms
    s = 1 / (b * rule.epsilon)
    c = 2 * _log(made) * s
    h = math.sqrt(math.log(k) / (rule.horizon / b * k * (2 * (1 + 2 * s**2) + 1 + c)))
    g = min(h * k * (1 + c), 0.5)
    gaps = made.gaps
    weights = np.exp(-h * np.arange(1, rule.horizon // b)[:, None] * gaps)
    shares = weights / weights.sum(axis=1, keepdims=True)
    return float(b * (gaps[0] + ((1 - g) * shares @ gaps + g * gaps.mean()).sum()))


def tsallis_inf(made: Cell) -> float:
    """`TSALLIS` (K - 1)/K sqrt(KT/epsilon): measured where the gap is the worst one, not derived."""
    rule: Listed = made.algorithm
    return float(TSALLIS * (rule.n_arms - 1) * math.sqrt(rule.horizon / (rule.n_arms * rule.epsilon)))
