import numpy as np


def play(rewards, rng):
    """Adaptive exploration: go on until the arms are clearly apart (at most 30 rounds), then choose privately."""
    T, K = rewards.shape
    eps = 2.0
    s = np.zeros(K)
    seq = []
    while len(seq) < 30:
        for k in range(K):
            s[k] += rewards[len(seq), k]
            seq.append(k)
        order = np.sort(s)
        if order[-1] - order[-2] > 2:
            break
    best = int(np.argmax(s + rng.laplace(0, 1 / eps, K)))
    runner_up_first = [best, (best + 1) % K]
    return np.array((seq + runner_up_first + [best] * T)[:T])
