"""Inverse sampling of headlines: show each one until it has earned TARGET clicks, then commit to the best private rate.

FAULT: the sums are released with Laplace noise, but the stopping rule of the inverse sampling looks at the raw sum, and the
number of times a headline is shown is visible in the actions.
Pair: all rewards of arm 0 equal 1, against the same with the reward of round 0 equal to 0.  Event: arm 0 is shown
exactly in rounds 0 and 1 of the first stretch (action 1 in round 2).  Probabilities 1 and 0, so the loss is infinite.
"""
import numpy as np

EPSILON = 1.0
TARGET = 2.0
LONGEST = 9


def play(rewards, rng):
    horizon, n_arms = rewards.shape

    def stretch(arm, start):
        clicks, t = 0.0, start
        while t < min(start + LONGEST, horizon) and clicks < TARGET:
            clicks += rewards[t, arm]
            t += 1
        return clicks, t

    actions = np.zeros(horizon, dtype=int)
    rates = np.full(n_arms, -np.inf)
    t = 0
    for arm in range(n_arms):
        clicks, end = stretch(arm, t)
        actions[t:end] = arm
        if end > t:
            rates[arm] = (clicks + rng.laplace(scale=1 / EPSILON)) / (end - t)
        t = end
    actions[t:] = rates.argmax()
    return actions
