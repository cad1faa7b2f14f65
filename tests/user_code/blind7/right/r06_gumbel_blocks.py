"""Blocks in turn; after each the leader is drawn by Gumbel noise on the sums of that block.

Right. Adding Gumbel noise of scale 1 / EPSILON and taking the maximum draws arm a with probability
proportional to exp(EPSILON * S_a). Usually a factor 1/2 is needed, because all scores may move; here one
reward moves one score by at most 1: numerator and normaliser move in the same direction, so that each
probability changes by at most a factor e^EPSILON. Every block is used for one draw.
"""

from itertools import cycle, islice

import numpy as np

EPSILON = 1.2
ROUNDS = 3


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions = []
    leader = 0
    while len(actions) < horizon:
        start = len(actions)
        trial = list(islice(cycle(range(n_arms)), ROUNDS * n_arms))[: horizon - start]
        sums = np.zeros(n_arms)
        for i, arm in enumerate(trial):
            sums[arm] += rewards[start + i, arm]
        actions += trial
        if len(actions) >= horizon:
            break
        leader = int(np.argmax(sums + rng.gumbel(0, 1 / EPSILON, n_arms)))
        actions += [leader] * min(2 * n_arms, horizon - len(actions))
    return np.array(actions)
