"""Stay on an arm until its accumulated shortfall is above a noisy threshold, then go to
the next arm: the sparse vector technique as a bandit.  K = 3, T = 60, epsilon = 2 (pure).

Each segment is one run of AboveThreshold on the rewards of the segment.  One reward
moves all queries of its segment in the same direction, so that the monotone form
applies: half of epsilon for the threshold (scale 2/eps), half for the query noise
(scale 2/eps).
"""
import numpy as np

K, T = 3, 60
EPS = 2.0
TARGET, PATIENCE = 0.6, 2.0


def above_threshold(eps, rng):
    """Closure: feed it the query values; True once the test fires."""
    bar = PATIENCE + rng.laplace(scale=2.0 / eps)

    def test(query):
        return query + rng.laplace(scale=2.0 / eps) >= bar

    return test


def play(rewards, rng):
    actions = np.zeros(T, dtype=int)
    arm = int(rng.integers(K))
    test, shortfall = above_threshold(EPS, rng), 0.0
    for t in range(T):
        actions[t] = arm
        shortfall += TARGET - rewards[t, arm]
        if test(shortfall):
            arm = (arm + 1) % K
            test, shortfall = above_threshold(EPS, rng), 0.0
    return actions
