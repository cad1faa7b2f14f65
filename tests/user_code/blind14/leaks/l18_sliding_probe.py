"""Two-armed tracker for drifting rewards.  K = 2, T = 48, epsilon = 1 (pure).

A block of six rounds has four probes (two per arm) and two rounds with the arm ahead over
the recent probes.  The difference of the probe sums has sensitivity one; each
decision has fresh Laplace(1/eps) noise.
"""
from collections import deque
import numpy as np

K, T, EPS = 2, 48, 1.0
PROBES = (0, 1, 1, 0)
MEMORY = 3


def block_gap(rewards, start):
    return sum((1 if a == 0 else -1) * rewards[start + i, a] for i, a in enumerate(PROBES))


def play(rewards, rng):
    recent = deque(maxlen=MEMORY)
    actions = []
    for start in range(0, T, 6):
        recent.append(block_gap(rewards, start))
        ahead = 0 if sum(recent) + rng.laplace(0.0, 1.0 / EPS) > 0 else 1
        actions.extend(PROBES)
        actions.extend([ahead, ahead])
    return np.asarray(actions)
