"""Private successive elimination with forgetting (epochs of doubling length).

In every epoch each surviving arm is pulled the same number of times.  The
epoch totals are perturbed once, arms that trail the noisy leader by more than
the confidence radius are dropped, and the rewards of the epoch are thrown away.
Claim: the sequence of actions is 1.0-differentially private for one reward.
"""
import math

import numpy as np

EPS = 1.0


def radius(n, k):
    sampling = 0.4 * math.sqrt(math.log(4 * k) / (2 * n))
    privacy = 0.8 / (EPS * n)
    return sampling + privacy


def play(rewards, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    actions = []

    def pull(arm):
        t = len(actions)
        actions.append(arm)
        return rewards[t, arm]

    active = list(range(k))
    leader = 0
    n = 2
    while len(active) > 1:
        if len(actions) + n * len(active) > horizon:
            break
        totals = dict.fromkeys(active, 0.0)
        for _ in range(n):
            for arm in active:
                totals[arm] += pull(arm)
        noisy = {arm: (totals[arm] + rng.laplace(0.0, 1.0 / EPS)) / n for arm in active}
        leader = max(active, key=noisy.get)
        cut = noisy[leader] - radius(n, k)
        active = [arm for arm in active if noisy[arm] >= cut]
        n *= 2

    while len(actions) < horizon:
        pull(leader)
    return np.array(actions, dtype=int)
