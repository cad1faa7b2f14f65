"""Commits to a privately chosen arm and leaves it when a noisy block mean drops."""
import numpy as np

EPS = 1.0
M, BLOCK = 5, 20


def play(rewards, rng):
    T, K = rewards.shape
    explore = np.stack([rewards[a * M:(a + 1) * M, a] for a in range(K)])
    acts = [a for a in range(K) for _ in range(M)]
    noisy = explore.sum(axis=1) + rng.laplace(0, 1 / EPS, K)
    arm = int(noisy.argmax())
    reference = explore.mean(axis=1)
    while len(acts) < T:
        n = min(BLOCK, T - len(acts))
        block = rewards[len(acts):len(acts) + n, arm].sum() + rng.laplace(0, 1 / EPS)
        acts += [arm] * n
        if n == BLOCK and block / n < reference[arm] - 0.2:
            arm = (arm + 1) % K
    return acts
