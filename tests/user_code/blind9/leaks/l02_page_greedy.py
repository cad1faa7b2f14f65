"""A/B test: play the winner, else switch; some random exploration late on.

Fault: the switch after a bad result looks at the raw reward. The first reward 1 or 0 on page 0:
event {second action = 0} has probability 1 or 0, so the loss is infinite.
"""
import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    a = 0
    for t in range(T):
        actions[t] = a
        if rewards[t, a] + 0.0 < 0.5:
            a = (a + 1) % K
        elif t > T // 2 and rng.random() < 0.1:
            a = int(rng.integers(K))
    return actions
