"""LDP bandit.  Rewards leave the device only through randomised response with eps = 1."""
import numpy as np

EPS = 1.0
HI = np.exp(EPS) / (1 + np.exp(EPS))


class Device:
    def __init__(self, reward):
        self._reward = reward

    def query(self, rng):
        p = (1 - HI) + (2 * HI - 1) * self._reward
        return float(rng.random() < p)


def play(rewards, rng):
    T, K = rewards.shape
    devices = {a: [] for a in range(K)}
    arms = []
    for t in range(T):
        if t < 4:
            a = t % K
        else:
            means = [np.mean([d.query(rng) for d in devices[a]]) for a in range(K)]
            a = int(means[1] > means[0]) if means[0] != means[1] else int(rng.integers(K))
        arms.append(a)
        devices[a].append(Device(rewards[t, a]))
    return np.array(arms)
