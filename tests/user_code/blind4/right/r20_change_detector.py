"""Explore, commit, and re-explore when a noisy monitor says the arm got worse."""
import numpy as np

EPS = 2.0
M, BLOCK, DROP = 5, 6, 2.0


def play(rewards, rng):
    T, K = rewards.shape
    acts = []

    def pull(arm):
        if len(acts) < T:
            acts.append(arm)
            return rewards[len(acts) - 1, arm]
        return 0.0

    while len(acts) < T:
        est = []
        for arm in range(K):
            est.append((sum(pull(arm) for _ in range(M)) + rng.laplace(0, 1 / EPS)) / M)
        arm = int(np.argmax(est))
        level = DROP + rng.laplace(0, 2 / EPS)
        while len(acts) < T:
            loss = BLOCK * est[arm] - sum(pull(arm) for _ in range(BLOCK))
            if loss + rng.laplace(0, 4 / EPS) > level:
                break
    return acts
