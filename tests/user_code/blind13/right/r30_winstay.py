"""Win-stay lose-shift under local differential privacy.

Claim: epsilon = 1.2 (pure).  Every reward is turned into one bit: it is rounded to 0/1 at random, and the bit passes
through binary randomised response.  The learner (a coroutine) only ever receives the bit.
"""
import math

import numpy as np

EPSILON = 1.2
ARMS, ROUNDS = 3, 50
KEEP = math.exp(EPSILON) / (1.0 + math.exp(EPSILON))


def one_bit(value, rng):
    bit = rng.random() < value
    return bit if rng.random() < KEEP else not bit


def learner(n_arms):
    """Sends out an arm, takes in a private bit; two losses in a row on an arm make it jump two places."""
    arm, misses = 0, 0
    while True:
        good = yield arm
        if good:
            misses = 0
            continue
        misses += 1
        arm = (arm + (2 if misses % 2 == 0 else 1)) % n_arms


def play(rewards, rng):
    agent = learner(ARMS)
    arm = next(agent)
    trace = np.empty(ROUNDS, dtype=int)
    for t in range(ROUNDS):
        trace[t] = arm
        arm = agent.send(one_bit(rewards[t, arm], rng))
    return trace
