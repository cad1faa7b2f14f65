"""Epoch-based play: probe all arms, then run the best noisy one."""
import numpy as np

EPSILON = 1.0
PROBES = 3
RUN = 8


class Laplace:
    def __init__(self, sensitivity, epsilon, rng):
        self.scale = sensitivity / epsilon
        self.rng = rng

    def __call__(self, value):
        return value + self.rng.laplace(0.0, self.scale)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    mechanism = Laplace(1.0, EPSILON, rng)
    arms = []
    while len(arms) + PROBES * n_arms <= horizon:
        sums = np.zeros(n_arms)
        for arm in np.repeat(np.arange(n_arms), PROBES):
            sums[arm] += rewards[len(arms), arm]
            arms.append(int(arm))
        best = int(np.argmax(mechanism(sums)))
        arms += [best] * min(RUN, horizon - len(arms))
    arms += [best] * (horizon - len(arms))
    return arms
