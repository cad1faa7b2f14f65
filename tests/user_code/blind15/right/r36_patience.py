"""Stay with an arm until a private alarm says that it has fallen short.

K = 3, T = 50, claimed epsilon = 1.0 (pure).  The alarm is AboveThreshold on the running
shortfall sum(0.6 - reward) since the arm was taken up: one threshold noise per stay, fresh
query noise each round, both Laplace(1/epsilon).  A changed reward moves all later shortfalls
of the stay by the same amount (at most 1), hence either the threshold is shifted along or
only the last comparison pays, never both.  A stay's rewards are dropped when it ends, and the
next stay starts with fresh noise.
"""
import numpy as np

K, T = 3, 50
EPSILON = 1.0
TARGET = 0.6
LIMIT = 2.5


def new_alarm(rng):
    threshold = LIMIT + rng.laplace(scale=1.0 / EPSILON)
    shortfall = 0.0

    def feed(reward):
        nonlocal shortfall
        shortfall += TARGET - reward
        return shortfall + rng.laplace(scale=1.0 / EPSILON) >= threshold

    return feed


def play(rewards, rng):
    arm = int(rng.integers(K))
    alarm = new_alarm(rng)
    trace = []
    for row in rewards:
        trace.append(arm)
        if alarm(row[arm]):
            arm = (arm + 1) % K
            alarm = new_alarm(rng)
    return np.array(trace)
