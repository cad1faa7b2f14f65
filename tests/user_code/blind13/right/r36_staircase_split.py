"""Warm-up, staircase noise, proportional split.

Claim: epsilon = 1 (pure).  Four pulls per arm, the three sums get staircase noise (sensitivity 1, optimal step
gamma = 1 / (1 + e^(eps/2))); the other 33 rounds are shared out in proportion to the clipped noisy sums with the
largest-remainder rule and interleaved by arm.
"""
import numpy as np

EPS, K, T, WARM = 1.0, 3, 45, 4


def staircase(rng, shape, eps, sens=1.0):
    """Geng and Viswanath's sampler: sign, geometric stair, position on the stair."""
    b = np.exp(-eps)
    gamma = 1.0 / (1.0 + np.exp(eps / 2.0))
    sign = rng.choice([-1.0, 1.0], size=shape)
    stair = rng.geometric(1.0 - b, size=shape) - 1
    lower = rng.random(shape) < gamma / (gamma + (1.0 - gamma) * b)
    u = rng.random(shape)
    place = np.where(lower, gamma * u, gamma + (1.0 - gamma) * u)
    return sign * (stair + place) * sens


def largest_remainder(weights, seats):
    ideal = seats * weights / weights.sum(axis=1, keepdims=True)
    base = np.floor(ideal).astype(int)
    missing = seats - base.sum(axis=1)
    rank = np.argsort(np.argsort(base - ideal, axis=1, kind="stable"), axis=1, kind="stable")
    return base + (rank < missing[:, None])


def play_many(rewards, n_runs, rng):
    warm = np.tile(np.arange(K), WARM)
    seen = rewards[np.arange(K * WARM), warm].reshape(WARM, K)
    noisy = seen.sum(axis=0) + staircase(rng, (n_runs, K), EPS)
    weights = np.clip(noisy, 0.25, 2.0 * WARM)
    quota = largest_remainder(weights, T - K * WARM)
    ends = np.cumsum(quota, axis=1)
    slots = np.arange(T - K * WARM)
    tail = (slots[None, :, None] >= ends[:, None, :]).sum(axis=2)
    return np.concatenate([np.broadcast_to(warm, (n_runs, K * WARM)), tail], axis=1)
