"""Pure Python version: noise from random.Random.

Privacy. expovariate(eps) has rate eps, that is mean 1 / eps; with a random sign it is Laplace of scale 1 / eps. A
reward is in one round of one "season", each season's score of each arm is released once and the
table is reset. One reward moves one score by at most 1, hence eps-DP. The seed does not depend on rewards.
"""

import random

import numpy as np

EPSILON = 1.0
SEASON = 12


def play(rewards, rng):
    coins = random.Random(int(rng.integers(2**63)))
    T, K = rewards.shape
    league = [0.0] * K
    table = [0.0] * K
    actions = []
    for t in range(T):
        in_season = t % SEASON
        if in_season < 2 * K:
            arm = in_season % K
        else:
            arm = max(range(K), key=lambda a: league[a])
        actions.append(arm)
        table[arm] += float(rewards[t][arm])
        if in_season == SEASON - 1:
            for a in range(K):
                league[a] += table[a] + coins.choice((-1, 1)) * coins.expovariate(EPSILON)
            table = [0.0] * K
    return np.array(actions)
