"""epsilon-greedy; the two epsilons are not the same thing!

explore: chance of exploring (public coin).   privacy: budget.
Only rewards of exploration rounds are used.  As soon as an arm has 3 new ones, their sum is released
with Laplace(1/privacy) noise and they are dropped.  Which rounds explore, and which arm, does not depend on
rewards.  A reward is in one release => privacy-DP.
"""
import numpy as np


def play(rewards, rng, explore=0.5, privacy=1.0, buffer_size=3):
    T, K = rewards.shape
    buffers = [[] for _ in range(K)]
    released, n_released = np.zeros(K), np.zeros(K)
    chosen = []
    for t in range(T):
        if rng.random() < explore:
            a = int(rng.integers(K))
            buffers[a].append(rewards[t, a])
            if len(buffers[a]) == buffer_size:
                released[a] += sum(buffers[a]) + rng.laplace(0, 1 / privacy)
                n_released[a] += buffer_size
                buffers[a] = []
        else:
            means = np.where(n_released > 0, released / np.maximum(n_released, 1), 0.5)
            a = int(means.argmax())
        chosen.append(a)
    return np.array(chosen)
