"""DP successive elimination (after Sajed and Sheffet, 2019), short horizon version.

Epochs of doubling length.  In an epoch every active arm is pulled n times, the
sum of exactly those n rewards is released with Laplace noise, and the sums of
former epochs are forgotten.  Arms whose noisy mean is far below the best noisy
mean are dropped.  Claims epsilon = 2.0 (pure).
"""
import numpy as np

EPSILON = 2.0
MARGIN = 0.25          # elimination gap of the first epoch, halved every epoch


def epoch_lengths(first=2):
    n = first
    while True:
        yield n
        n *= 2


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    active = list(range(K))
    t = 0
    gap = MARGIN
    for n in epoch_lengths():
        if len(active) == 1 or t + n * len(active) > T:
            break
        means = {}
        for a in active:
            total = 0.0
            for _ in range(n):
                actions[t] = a
                total += rewards[t, a]
                t += 1
            means[a] = (total + rng.laplace(0.0, 1.0 / EPSILON)) / n
        top = max(means.values())
        active = [a for a in active if means[a] >= top - gap]
        gap /= 2
    # remaining rounds: cycle through what is left, without learning
    i = 0
    while t < T:
        actions[t] = active[i % len(active)]
        t += 1
        i += 1
    return actions
