"""Carousel campaigns: each cycle tests every creative, then runs the Gumbel-noisy best of the recent window.

Fault: the window holds the last WINDOW = 3 test rewards while a cycle brings only TESTS = 2 new ones, so the last
reward of a cycle is scored again in the next cycle with fresh noise; each scoring alone costs up to EPSILON.
Pair: three arms, arms 1 and 2 always 1, arm 0 always 0; on the other side the second test of arm 0 in cycle one is 1.
Event: arm 0 runs in cycles one and two.  Window totals of the others are 2 and 3, so with a = e^0.8 the probabilities are
1/(1 + 2a^2) * 1/(1 + 2a^3) = 0.00398 and a/(a + 2a^2) * a/(a + 2a^3) = 0.01682: loss 1.441 = 1.80 times the claim.
"""
from collections import deque

import numpy as np

EPSILON = 0.8
TESTS = 2
WINDOW = 3
RUN = 6


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    actions = np.empty((n_runs, horizon), dtype=int)
    recent = [deque(maxlen=WINDOW) for _ in range(n_arms)]
    t = 0
    while t < horizon:
        for arm in np.tile(np.arange(n_arms), TESTS)[: horizon - t]:
            actions[:, t] = arm
            recent[arm].append(rewards[t, arm])
            t += 1
        if t >= horizon:
            break
        totals = np.array([sum(window) for window in recent])
        noisy = totals + rng.gumbel(scale=1.0 / EPSILON, size=(n_runs, n_arms))
        stop = min(t + RUN, horizon)
        actions[:, t:stop] = noisy.argmax(axis=1)[:, None]
        t = stop
    return actions
