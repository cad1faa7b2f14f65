"""Three-level randomised response with coins of the operating system.

Privacy. The reward is rounded to 0, 1/2 or 1. The true level is reported with probability e^eps / (e^eps + 2), each of the
two others with 1 / (e^eps + 2). For two rewards the chances of any answer differ by at most e^eps. There is one answer
for each reward. High answers make the policy stay, low ones make it leave and middling ones leave it to a coin.
"""

import math
import secrets

import numpy as np

EPSILON = 1.0
coins = secrets.SystemRandom()


def report(reward):
    level = int(round(2 * float(reward)))
    if coins.random() < math.exp(EPSILON) / (math.exp(EPSILON) + 2):
        return level
    return coins.choice([x for x in (0, 1, 2) if x != level])


def play(rewards, rng):
    T, K = rewards.shape
    arm, path = 0, []
    for t in range(T):
        path.append(arm)
        answer = report(rewards[t, arm])
        leave = answer == 0 or (answer == 1 and coins.random() < 0.5)
        if leave:
            arm = (arm + 1 + coins.randrange(K - 1)) % K
    return np.array(path, dtype=int)
