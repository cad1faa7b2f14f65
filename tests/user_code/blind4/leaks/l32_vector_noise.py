"""Phased exploration with vectorised Laplace perturbation of the arm totals."""
import numpy as np

EPSILON = 1.0


def noisy_leader(totals, rng):
    perturbed = totals + rng.laplace(loc=0.0, scale=1.0 / EPSILON)
    return int(np.argmax(perturbed))


def play(rewards, rng):
    T, K = rewards.shape
    acts = np.empty(T, dtype=int)
    t, per_arm = 0, 3
    while t < T:
        totals = np.zeros(K)
        for a in rng.permutation(K):
            stop = min(t + per_arm, T)
            acts[t:stop] = a
            totals[a] += rewards[t:stop, a].sum()
            t = stop
        hold = min(t + 6, T)
        acts[t:hold] = noisy_leader(totals, rng)
        t = hold
    return acts
