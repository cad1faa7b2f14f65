"""Explore-then-commit with Laplace noise made from one uniform (inverse CDF)."""
import math

EPSILON = 1.0
EXPLORE = 10


def laplace_from_uniform(u, b):
    v = u - 0.5
    return -b * math.copysign(1.0, v) * math.log(max(1.0 - 2.0 * abs(v), 1e-300))


def play(rewards, rng):
    horizon, k = rewards.shape
    m = min(EXPLORE, horizon // k)
    totals = [0.0] * k
    actions = []
    for t in range(m * k):
        arm = t % k
        totals[arm] += min(max(rewards[t, arm], 0.0), 1.0)
        actions.append(arm)
    noisy = [x / m + laplace_from_uniform(rng.random(), 1.0 / (m * EPSILON)) for x in totals]
    winner = noisy.index(max(noisy))
    actions += [winner] * (horizon - m * k)
    return actions
