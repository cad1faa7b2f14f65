"""Phased exploration; each phase builds a noise stream from the run's seed."""
import numpy as np

EPS = 1.0


def perturb(values, seed):
    stream = np.random.default_rng(seed)
    return values + stream.laplace(0.0, 1.0 / EPS, size=len(values))


def play(rewards, rng):
    T, K = rewards.shape
    seed = int(rng.integers(2 ** 60))
    out = []
    per_arm, hold = 4, 8
    while len(out) < T:
        tally = np.zeros(K)
        for j in range(per_arm * K):
            if len(out) < T:
                tally[j % K] += rewards[len(out), j % K]
                out.append(j % K)
        best = int(np.argmax(perturb(tally, seed)))
        out += [best] * min(hold, T - len(out))
    return out
