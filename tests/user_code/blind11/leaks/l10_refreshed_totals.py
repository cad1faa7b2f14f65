"""Explore and exploit in turn: every phase shows each item a few times, then the item with the best noisy total.

Fault: the totals run over all phases so far, and every phase adds fresh Laplace(1/EPSILON) noise to them as if it were
the only release; a reward of the first phase is released four times when there are four phases (40 rounds).
Pair: two arms, arm 1 always 0; arm 0 earns 1 in its first test and 0 later, or 1 in its first two tests and 0 later.
Event: arm 1 is exploited in all four phases.  The difference X of two Laplace(1) has P(X > x) = e^-x (2 + x) / 4, so
the probabilities are (3 e^-1 / 4)^4 = 0.00579 and (e^-2)^4 = 0.000335: loss 4 (1 - ln(4/3)) = 2.849 = 2.85 times.
"""
import numpy as np
from scipy import stats

EPSILON = 1.0
TESTS = 2
PHASE = 10


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    total = np.zeros(n_arms)
    actions = np.zeros(horizon, dtype=int)
    favourite = 0
    for t in range(horizon):
        step = t % PHASE
        if step < TESTS * n_arms:
            arm = step % n_arms
            total[arm] += rewards[t, arm]
            if step == TESTS * n_arms - 1:
                noise = stats.laplace.ppf(rng.random(n_arms), scale=1.0 / EPSILON)
                favourite = int(np.argmax(total + noise))
        else:
            arm = favourite
        actions[t] = arm
    return actions
