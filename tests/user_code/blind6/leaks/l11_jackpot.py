"""Explore unless something excellent turns up."""
import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    sums = np.zeros(K)
    actions = []
    n = 7 * K
    for t in range(n):
        arm = t % K
        actions.append(arm)
        sums[arm] += rewards[t, arm]
        if t >= K and rewards[t, arm] > 0.95:
            return np.array(actions + [arm] * (T - t - 1))
    best = int(np.argmax(sums + rng.laplace(0, 1 / EPSILON, K)))
    return np.array(actions + [best] * (T - n))
