"""Optimistic greedy play on rewards perturbed by the piecewise mechanism."""
import math

EPSILON = 2.0
HALF = math.exp(EPSILON / 2)
C = (HALF + 1) / (HALF - 1)


def piecewise(x, rng):
    """Unbiased eps-LDP report of x in [-1, 1] with values in [-C, C]."""
    left = (C + 1) / 2 * x - (C - 1) / 2
    right = left + C - 1
    if rng.random() < HALF / (HALF + 1):
        return left + (right - left) * rng.random()
    u = rng.random() * (C + 1)
    low = left + C
    return -C + u if u < low else right + (u - low)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    total = {a: 1.0 for a in range(n_arms)}
    count = {a: 1 for a in range(n_arms)}
    trail = []
    for t in range(horizon):
        arm = max(total, key=lambda a: total[a] / count[a] + 0.8 * math.sqrt(math.log(t + 2) / count[a]))
        x = 2.0 * float(rewards[t, arm]) - 1.0
        total[arm] += piecewise(x, rng)
        count[arm] += 1
        trail.append(arm)
    return trail
