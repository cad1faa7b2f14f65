"""Windowed exponential mechanism with Walker's alias tables, epsilon = 1 (pure).

Every eight rounds a new favourite is drawn with weights exp(eps * windowed sum);
between draws the arms are probed in turn and then the favourite is served.  A window
holds the rewards since the last draw, so each reward pays for one draw.
"""
from collections import deque

import numpy as np

EPS = 1.0
PERIOD = 8


def alias_table(weights):
    n = len(weights)
    scaled = [w * n / sum(weights) for w in weights]
    prob, alias = [1.0] * n, list(range(n))
    small = [i for i, s in enumerate(scaled) if s < 1.0]
    large = [i for i, s in enumerate(scaled) if s >= 1.0]
    while small and large:
        s, g = small.pop(), large.pop()
        prob[s], alias[s] = scaled[s], g
        scaled[g] -= 1.0 - scaled[s]
        (small if scaled[g] < 1.0 else large).append(g)
    return prob, alias


def alias_draw(table, rng):
    prob, alias = table
    i = int(rng.integers(len(prob)))
    return i if rng.random() < prob[i] else alias[i]


def play(rewards, rng):
    T, K = rewards.shape
    window = deque(maxlen=PERIOD + 1)
    favourite = int(rng.integers(K))
    actions = []
    for t in range(T):
        phase = t % PERIOD
        if phase == 0 and t > 0:
            sums = [0.0] * K
            for arm, r in window:
                sums[arm] += r
            top = max(sums)
            table = alias_table([float(np.exp(EPS * (s - top))) for s in sums])
            favourite = alias_draw(table, rng)
        arm = phase if phase < K else favourite
        window.append((arm, min(1.0, max(0.0, float(rewards[t, arm])))))
        actions.append(arm)
    return np.array(actions)
