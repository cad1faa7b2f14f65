"""Periodic re-ranking with the Gaussian mechanism, epsilon = 1, delta = 1e-4.

Each period tries every arm four times, perturbs each arm's sum with a Gaussian
variable of sigma = sqrt(2 log(1.25 / delta)) / eps (sensitivity one) and then plays
the best arm three times and the second twice.  Normals are made by Box and Muller,
two at a time.
"""
import numpy as np

EPS, DELTA = 1.0, 1e-4
SIGMA = np.sqrt(2.0 * np.log(1.25 / DELTA)) / EPS
TRIES, FIRST, SECOND = 4, 3, 2


def box_muller(n, rng):
    half = max(1, n // 2)
    radius = np.sqrt(-2.0 * np.log1p(-rng.random(half)))
    angle = 2.0 * np.pi * rng.random(half)
    z = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return np.resize(z, n)


def period(t, rewards, rng):
    """Yield the arms of one period."""
    T, K = rewards.shape
    sums = np.zeros(K)
    for _ in range(TRIES):
        for a in range(K):
            if t < T:
                sums[a] += min(1.0, max(0.0, rewards[t, a]))
            yield a
            t += 1
    ranking = np.argsort(-(sums + SIGMA * box_muller(K, rng)))
    yield from [int(ranking[0])] * FIRST
    yield from [int(ranking[1])] * SECOND


def play(rewards, rng):
    T = rewards.shape[0]
    actions = []
    while len(actions) < T:
        for a in period(len(actions), rewards, rng):
            actions.append(a)
            if len(actions) == T:
                break
    return np.array(actions)
