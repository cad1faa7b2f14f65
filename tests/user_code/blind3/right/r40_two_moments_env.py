"""UCB-V in an environment, in two phases.

Twelve pulls, then the best of mean plus spread. Sum and sum of squares of an arm (each moves by at most 1) are released once
with epsilon/2 each.
"""

import numpy as np


def experiment(env, horizon, rng, epsilon=1.0):
    first = np.zeros(2)
    second = np.zeros(2)
    for t in range(12):
        r = env.pull(t % 2)
        first[t % 2] += r
        second[t % 2] += r * r
    first += rng.laplace(0, 2 / epsilon, 2)
    second += rng.laplace(0, 2 / epsilon, 2)
    mean = first / 6
    spread = np.sqrt(np.maximum(second / 6 - mean**2, 0))
    best = int(np.argmax(mean + 0.5 * spread))
    for _ in range(12, horizon):
        env.pull(best)
