"""Epochs that "forget": each epoch ranks arms by the noisy mean of that epoch.

Flaw: reset() clears the counts and leaves the sums, so that a reward of epoch 0 is in the sums of all later epochs and pays eps in
each. Pair (K = 2): all rewards 0, against reward 1 for arm 0 in round 0. Noise of scale 1 / (n eps) on sum / n is Laplace(1 / eps) on the sum when
both arms are pulled alike, which the probing rounds see to. Four rankings are visible, each with arm 1 first with chance 1/2,
against e^-1 (1 + 1/2) / 2 = 0.276. Together 4 log(0.5 / 0.276) = 2.38.
"""

import numpy as np

EPSILON = 1.0


class Epoch:
    def __init__(self, k):
        self.sums = np.zeros(k)
        self.n = np.zeros(k)

    def add(self, a, r):
        self.sums[a] += r
        self.n[a] += 1

    def reset(self):
        self.n[:] = 0

    def rank(self, rng):
        n = np.maximum(self.n, 1)
        return int(np.argmax(self.sums / n + rng.laplace(0, 1 / (n * EPSILON))))


def play(rewards, rng):
    T, K = rewards.shape
    epoch = Epoch(K)
    length = 8
    best = None
    actions = []
    for t in range(T):
        i = t % length
        probing = best is None or i < length // 2
        a = i % K if probing else best
        actions.append(a)
        if probing:
            epoch.add(a, rewards[t, a])
        if i == length - 1:
            best = epoch.rank(rng)
            epoch.reset()
    return np.array(actions)
