"""Exponential mechanism by inverting the cumulative distribution, once for each block of rounds.

Privacy. Arm a is drawn with probability e^(epsilon S_a) / sum_b e^(epsilon S_b), where S_a is the sum of
what arm a earned in the block that has just ended. One reward moves one S_a by at most 1, and so the log
of the numerator by at most epsilon in one direction and the log of the denominator by no more in the
same direction: log-probabilities move by at most epsilon. Sums are reset after each draw.
"""

import numpy as np

EPSILON = 1.0


def draw(scores, rng):
    w = np.exp(EPSILON * (scores - scores.max()))
    cdf = np.cumsum(w)
    return min(int(np.searchsorted(cdf, rng.random() * cdf[-1], side="right")), len(scores) - 1)


def play(rewards, rng, block=10):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    scores = np.zeros(K)
    current = 0
    for t in range(T):
        if t > 0 and t % block == 0:
            current = draw(scores, rng)
            scores[:] = 0.0
        phase = t % block
        arm = phase if phase < K else current
        actions[t] = arm
        scores[arm] += rewards[t, arm]
    return actions
