"""Explore, check the leader, commit."""
import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    n = 5
    sums = {k: 0.0 for k in range(K)}
    acts = []
    for k in range(K):
        for _ in range(n):
            sums[k] += rewards[len(acts), k]
            acts.append(k)
    leader = max(sums, key=sums.get)
    noisy = sums[leader] + rng.laplace(0, 1 / EPSILON)
    runner_up = max((k for k in sums if k != leader), key=sums.get)
    final = leader if noisy >= sums[runner_up] else runner_up
    return np.array(acts + [final] * (T - len(acts)))
