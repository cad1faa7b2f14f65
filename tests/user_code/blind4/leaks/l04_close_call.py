"""Explore-then-commit with a rule for close calls between the leading arms."""
import numpy as np

EPS = 1.0
MARGIN = 3.0


def choose(totals, rng):
    noisy = totals + rng.laplace(0, 1 / EPS, len(totals))
    order = np.argsort(-noisy)
    first, second = order[0], order[1]
    if noisy[first] - noisy[second] < MARGIN:
        # too close to call: keep whichever of the two has the better record
        return int(first if totals[first] >= totals[second] else second)
    return int(first)


def play(rewards, rng):
    T, K = rewards.shape
    m = 20
    totals = np.zeros(K)
    acts = []
    for t in range(m * K):
        acts.append(t % K)
        totals[t % K] += rewards[t, t % K]
    return acts + [choose(totals, rng)] * (T - m * K)
