"""Private successive elimination with doubling phases (in the manner of DP-SE).

K = 5, T = 60, claimed epsilon = 1.0 (pure).  In phase l every surviving arm is played 2**l
times and its *phase* sum, never used again afterwards, gets Laplace(1/epsilon) noise.
Arms whose noisy phase mean lies too far below the best are dropped.
"""
from itertools import count, cycle, islice
from math import log, sqrt

import numpy as np

K, T, EPS, BETA = 5, 60, 1.0, 0.3


def radius(n, survivors, phase):
    stat = sqrt(log(4 * survivors * (phase + 1) ** 2 / BETA) / (2 * n))
    priv = log(2 * survivors * (phase + 1) ** 2 / BETA) / (EPS * n)
    return 0.3 * (stat + priv)


def play(rewards, rng):
    actions = []
    alive = list(range(K))
    last = {a: 0.0 for a in alive}
    for phase in count():
        n = 2 ** phase
        if len(alive) == 1 or len(actions) + n * len(alive) > T:
            break
        sums = dict.fromkeys(alive, 0.0)
        for a in islice(cycle(alive), n * len(alive)):
            sums[a] += rewards[len(actions), a]
            actions.append(a)
        last = {a: (s + rng.laplace(0.0, 1.0 / EPS)) / n for a, s in sums.items()}
        bar = max(last.values()) - 2 * radius(n, len(alive), phase)
        alive = [a for a in alive if last[a] >= bar]
    best = max(alive, key=last.__getitem__)
    actions += [best] * (T - len(actions))
    return np.array(actions)
