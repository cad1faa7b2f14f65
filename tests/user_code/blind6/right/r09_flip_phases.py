"""Test phases and reward phases in turn."""
import numpy as np

EPSILON = 2.0
TEST = 4
HARVEST = 4


def permute_and_flip(quality, eps, rng):
    best = quality.max()
    for i in rng.permutation(quality.size):
        if rng.random() <= np.exp(0.5 * eps * (quality[i] - best)):
            return int(i)
    raise AssertionError("unreachable")


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.empty(T, dtype=np.int64)
    t = 0
    while t < T:
        quality = np.zeros(K)
        for arm in np.repeat(np.arange(K), TEST):
            if t >= T:
                return actions
            actions[t] = arm
            quality[arm] += rewards[t, arm]
            t += 1
        winner = permute_and_flip(quality, EPSILON, rng)
        end = min(T, t + HARVEST * K)
        actions[t:end] = winner
        t = end
    return actions
