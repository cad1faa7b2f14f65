"""Doubling phases; at each phase end the pooled totals are perturbed and compared."""
import numpy as np

EPS = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    pooled = np.zeros(K)
    acts, hold = [], 2
    while len(acts) < T:
        for a in (0, 1) * 2:
            if len(acts) == T:
                return acts
            pooled[a % K] += rewards[len(acts), a % K]
            acts.append(a % K)
        noisy = pooled + rng.laplace(0, 1 / EPS, K)
        acts += [int(noisy.argmax())] * min(hold, T - len(acts))
        hold *= 2
    return acts
