"""Private all along, with a final recommendation from exact means.

Leak. The last round plays the arm with the best exact mean, as a regret plot wants it. Worst pair: two arms
tie, or one of them has earned 1 less; the last action is determined by the table. Epsilon is infinite.
"""

from itertools import chain, cycle, islice, repeat

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    explore = list(islice(cycle(range(n_arms)), 6 * n_arms))[: horizon - 1]
    sums = np.zeros(n_arms)
    for t, arm in enumerate(explore):
        sums[arm] += rewards[t, arm]
    private = int(np.argmax(sums + rng.laplace(0, 1 / EPSILON, n_arms)))
    recommended = int(np.argmax(sums))
    middle = repeat(private, horizon - 1 - len(explore))
    return np.fromiter(chain(explore, middle, [recommended]), dtype=int, count=horizon)
