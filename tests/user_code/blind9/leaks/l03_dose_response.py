"""Play the winner by randomised response on each result.

Fault: the flip probability is 1/(1 + exp(2 EPSILON)), not 1/(1 + exp(EPSILON)). With two doses the
second action shows the flipped bit: first reward 1 against 0, event {second action = 0}:
the loss is exactly 2 EPSILON = 1.6.
"""
import math
import numpy as np

EPSILON = 0.8


def play(rewards, rng):
    T, K = rewards.shape
    flip = 1 / (1 + math.exp(2 * EPSILON))
    actions = []
    a = 0
    for t in range(T):
        actions.append(a)
        good = bool(rewards[t, a] > 0.5)
        if rng.random() < flip:
            good = not good
        if not good:
            a = (a + 1) % K
    return np.array(actions)
