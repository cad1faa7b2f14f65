"""Bounds of the papers in closed form, from numbers alone.

No algorithm is asked for its epochs, widths or failure probabilities: one whose schedule is wrong would move
the limit that it is held to. Every failure probability is 1/T, and once in T the regret is T times a gap.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from verifiable_dp.core.validate import FloatArray, Numbers


def from_pulls(gaps: FloatArray, horizon: float, pulls: Callable[[float], float]) -> float:
    """Sum of the gaps times the pulls of an arm that far behind, at most T, and the largest gap once."""
    bad = [float(gap) for gap in gaps if gap > 0]
    return sum(gap * min(pulls(gap), horizon) for gap in bad) + max(bad, default=0.0)


def first_epoch(gap: float) -> int:
    """The first epoch tau with 2^-tau <= gap."""
    return max(1, math.ceil(math.log2(1 / min(gap, 1.0))))


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


def _dp_se_epochs(n_arms: int, horizon: float, epsilon: float) -> list[tuple[float, float]]:
    """Pulls R_1 + ... + R_e of an arm and the gap that epoch e removes, 4 (h_e + c_e), until T pulls.

    R_e grows with |S|, so |S| = K; h_e + c_e does not always, so its largest value counts.
    """
    sizes, found, total = np.arange(2, max(n_arms, 2) + 1, dtype=np.float64), [], 0.0
    for e in range(1, 64):
        h, c = np.log(8 * sizes * e**2 * horizon), np.log(4 * sizes * e**2 * horizon)
        length = np.maximum(32 * h * 4.0**e, 8 * c * 2.0**e / epsilon) + 1
        total += math.ceil(length[-1])
        found.append((total, float(4 * np.max(np.sqrt(h / (2 * length)) + c / (length * epsilon)))))
        if total >= horizon:
            break
    return found


def dp_se(gaps: FloatArray, horizon: float, epsilon: float, rounds: float | None = None) -> float:
    """Mean regret of DP-SE: every R_e of Algorithm 3 up to the first epoch with 4 (h_e + c_e) < gap.

    With probability 1 - 1/T all noisy means of an epoch lie within h_e + c_e of their expectations (Lemma
    4.2). The best arm's is then more than 2 (h_e + c_e) above that of an arm so far behind, which leaves.
    Lemma 4.2 bounds the sum by log(K log(2/gap) T) (1024/gap^2 + 96/(epsilon gap)), which is 20 to 50 times
    as much: its h_e and c_e are as large as 2^-e/8 both, and one of them is smaller. `rounds` are those that
    are played, T unless given.
    """
    epochs = _dp_se_epochs(len(gaps), horizon, epsilon)

    def pulls(gap: float) -> float:
        return next((total for total, removed in epochs if removed < gap), epochs[-1][0])

    return from_pulls(gaps, rounds or horizon, pulls)


def dp_se_doubling(gaps: FloatArray, horizon: float, epsilon: float, first_guess: int) -> float:
    """The same in every phase, for the rounds from g/4 (at first 0) to g/2 with g for T."""
    total, guess, start, largest = 0.0, first_guess, 0, float(gaps.max())
    while start < horizon:
        end = min(guess // 2, horizon)
        total += min(dp_se(gaps, guess, epsilon, end - start), largest * (end - start))
        guess, start = 2 * guess, int(end)
    return total


def dp_se_minimax(n_arms: int, horizon: float, epsilon: float) -> float:
    """Mean regret of DP-SE whatever the gaps in [0, 1]: min_e (T w_e + (K - 1) max_{i <= e} w_(i-1) P_i) + 1.

    w_e = 4 (h_e + c_e), at most 1, and P_e = R_1 + ... + R_e. Arms whose gaps are at most w_e cost T w_e
    together; another one leaves in some epoch i <= e, after P_i pulls, and its gap is at most w_(i-1), or
    else it had left before.
    """
    worst, before, found = 0.0, 1.0, [horizon]
    for pulls, removed in _dp_se_epochs(n_arms, horizon, epsilon):
        worst = max(worst, before * pulls)
        before = min(removed, 1.0)
        found.append(horizon * before + (n_arms - 1) * worst)
    return min(found) + 1


# ---------------------------------------------------------------- Auer et al., Mishra & Thakurta


def ucb_pulls(gaps: Numbers, horizon: float, width: float = 0.0) -> Numbers:
    """The n with 2 sqrt(2 log T/n) + 2 width/n = gap: of UCB1, or of DP-UCB with Gamma for the width."""
    spread = math.sqrt(2 * math.log(horizon))
    return ((spread + np.sqrt(spread**2 + 2 * gaps * width)) / gaps) ** 2


# ---------------------------------------------------------------- Tao, Wu, Zhao & Wang


def dp_robust_se_epoch(
    tau: Numbers, *, n_arms: int, epsilon: float, v: float, u: float, failure: float, factor: float = 1.0
) -> Numbers:
    """R_tau of Algorithm 3: u^(1/v) (24/D)^((1+v)/v) log(4 K tau^2/beta)/epsilon + 1, D = 2^-tau.

    `factor` is one on the constant 24.
    """
    log = np.log(4 * n_arms * tau**2 / failure)
    return np.ceil(u ** (1 / v) * (24 * factor * 2.0**tau) ** ((1 + v) / v) * log / epsilon + 1)


def ldp_robust_se_epoch(
    tau: Numbers,
    *,
    n_arms: int,
    epsilon: float,
    v: float,
    u: float,
    failure: float,
    factor: float = 1.0,
    base: float = 2.0,
) -> Numbers:
    """R_tau of Algorithm 4: u^(2/v) (28/D)^(2(1+v)/v) l/epsilon^2 + l, l = log(8 K tau^2/beta).

    D = base^-tau; the proof has base 2, the listing 4.
    """
    log = np.log(8 * n_arms * tau**2 / failure)
    return np.ceil(u ** (2 / v) * (28 * factor * base**tau) ** (2 * (1 + v) / v) * log / epsilon**2 + log)


def dp_robust_ucb_pulls(
    gaps: Numbers, horizon: float, epsilon: float, v: float, u: float, constant: float = 36.0
) -> Numbers:
    """Pulls of Theorem 2: (36/gap)^((1+v)/v) u^(1/v) log(2T^4) log^(1.5+1/v) T/epsilon.

    36 is twice the 18 of the bonus: errors as large as the bonus are allowed for.
    """
    logs = math.log(2 * horizon**4) * math.log(horizon) ** (1.5 + 1 / v)
    return (constant / gaps) ** ((1 + v) / v) * u ** (1 / v) * logs / epsilon


# ---------------------------------------------------------------- Wu, Zhou, Tao & Wang


def robust_failure(n_arms: int, horizon: float) -> float:
    """1/(T K log2 T): one of all estimates of a run fails once in T."""
    return 1 / (horizon * n_arms * math.log2(horizon))


def robust_deviation(
    n: float, k: float, epsilon: float, alpha: float, failure: float, radius: float | None = None
) -> float:
    """Beta of n rewards of which a share alpha is contaminated; ours, for every n.

    Raw moments, E|X|^k <= 1, with l = log(4/delta) and M = min((n epsilon/log(1/delta))^(1/k), alpha^(-1/k)):
    sqrt(2 (1 + alpha M^2) l/n) + 2 M l/(3 n) + 2 M log(2/delta)/(n epsilon) + M^(1-k) + alpha (M + 1).

    Central moments, means in [-D, D], D = `radius`: half of delta is for the histogram, which finds the mean
    up to m. 1 + m^2 and m take the places of 1; c = 2^(k-1) (1 + m^k) stands before M^(1-k), and M is c^(1/k)
    times as large. Infinite where n is too small for the histogram.
    """
    most = n * epsilon / math.log(1 / failure)
    m, variance, cut = 1.0, 1.0, 1.0
    if radius is not None:
        if n < histogram_size(k, epsilon, alpha, failure, radius):
            return math.inf
        m = bins(k, alpha)[1]
        variance, cut, failure = 1 + m**2, 2 ** (k - 1) * (1 + m**k), failure / 2
    limit = (cut * (min(most, 1 / alpha) if alpha else most)) ** (1 / k)
    log = math.log(4 / failure)
    sampling = math.sqrt(2 * (variance + alpha * limit**2) * log / n) + 2 * limit * log / (3 * n)
    noise = 2 * limit * math.log(2 / failure) / (n * epsilon)
    return float(sampling + noise + cut * limit ** (1 - k) + alpha * (limit + m))


def bins(k: float, alpha: float) -> tuple[float, float]:
    """Width r of a bin, and how far the fullest may lie from the mean: 2r, or 3r with contamination."""
    r = (10.0 if alpha == 0 else (1 - alpha) / (0.249 - alpha)) ** (1 / k)
    return r, (3 if alpha else 2) * r


def histogram_size(k: float, epsilon: float, alpha: float, failure: float, radius: float) -> float:
    """Rewards after which the fullest bin is near the mean: Hoeffding's inequality, and the noise of bins."""
    r, _ = bins(k, alpha)
    outside = r**-k
    far = outside if alpha == 0 else outside / 2**k
    slack = (1 - alpha) * (1 - outside) / 3 - alpha - (1 - alpha) * far
    log = math.log(4 * (math.ceil(2 * radius / r) + 2) / failure)
    return float(max(8 * log / slack**2, 8 * (log - math.log(2)) / (epsilon * slack)))


def robust_pulls(
    gap: float,
    horizon: float,
    epsilon: float,
    k: float,
    alpha: float,
    failure: float,
    radius: float | None = None,
) -> float:
    """Pulls of an arm of the elimination: batches of 2^tau up to the first 4 beta < gap, at most T."""
    pulls = 0.0
    for tau in range(1, 4 + int(math.log2(horizon))):
        pulls += 2.0**tau
        n = 2.0**tau if radius is None else 2.0 ** (tau - 1)
        if 4 * robust_deviation(n, k, epsilon, alpha, failure, radius) < gap:
            break
    return min(pulls, horizon)


def dp_robust_elimination(
    gaps: FloatArray,
    horizon: float,
    epsilon: float,
    k: float,
    alpha: float = 0.0,
    radius: float | None = None,
) -> float:
    """Mean regret of the elimination: for raw moments, or for central ones with means within `radius`."""
    about = (horizon, epsilon, k, alpha, robust_failure(len(gaps), horizon), radius)
    return from_pulls(gaps, horizon, lambda gap: robust_pulls(gap, *about))


# ---------------------------------------------------------------- Hanna, Girgis, Fragouli & Diggavi


def batch_growth(horizon: float) -> float:
    """q = (2T)^(1/log T) of line 3."""
    return float((2 * horizon) ** (1 / math.log(horizon)))


def core_size(dimension: int, n_actions: int) -> float:
    """min(|A|, 4 d log log d + 16) of Lemma 2; log log d is 0 below e."""
    return min(float(n_actions), 4 * dimension * math.log(max(math.log(dimension), 1.0)) + 16.0)


def central_width(pulls: float, dimension: int, *, scale: float, core: float, log: float) -> float:
    """gamma of a batch of q^i = `pulls` with noise of that scale on each of the sums of a `core` set.

    sqrt(4 d L/q^i) + 2 d scale (|C| + L)/q^i, L = `log` = log(4 |A| T/beta).
    """
    return math.sqrt(4 * dimension * log / pulls) + scale * 2 * dimension * (core + log) / pulls


def local_width(pulls: float, dimension: int, *, scale: float, log: float) -> float:
    """gamma of a batch of q^i = `pulls` with noise of that scale on every report.

    sqrt(4 d L/q^i) + scale sqrt(8 L max(Q, Q^2 L)), Q = 2 d/q^i, L = `log` = log(4 |A| T/beta).
    """
    norm = 2 * dimension / pulls
    return math.sqrt(2 * norm * log) + scale * math.sqrt(8 * log * max(norm, norm**2 * log))


def linear(gaps: FloatArray, horizon: float, core: float, width: Callable[[float], float]) -> float:
    """The sum in (16) with numbers; `width(q^i)` is gamma. It holds but with probability beta.

    A batch of q^i + |C| rounds costs at most the largest gap up to 4 gamma of the batch before, the rounds
    after the last batch at most 2 gamma each.
    """
    left, total, gap, last, q = float(horizon), 0.0, float(gaps.max()), math.inf, batch_growth(horizon)
    for batch in range(1, math.floor(math.log(horizon))):
        rounds = min(left, q**batch + core)
        total += rounds * gap
        left -= rounds
        if left <= 0:
            return total
        last = width(q**batch)
        gap = min(gap, float(gaps[gaps <= 4 * last].max()))
    return total + left * min(gap, float(gaps[gaps <= 2 * last].max()))
