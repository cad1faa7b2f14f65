"""Differentially private successive elimination (forgetful batches).

Every phase pulls each surviving arm n times, with n doubling from phase to phase, and
compares the batch means after Laplace noise.  A batch is thrown away once its mean has
been released.  Claimed guarantee: pure epsilon-DP for one reward, EPSILON = 1.0.
"""
import math

EPSILON = 1.0
FIRST_BATCH = 5


def width(n, horizon):
    return 0.5 * math.sqrt(math.log(horizon) / n)


def play(rewards, rng):
    horizon, k = rewards.shape
    actions = []
    alive = list(range(k))
    n = FIRST_BATCH
    while len(actions) < horizon:
        if len(alive) == 1:
            actions.append(alive[0])
            continue
        means = {}
        for arm in alive:
            total = 0.0
            pulled = 0
            while pulled < n and len(actions) < horizon:
                total += rewards[len(actions), arm]
                actions.append(arm)
                pulled += 1
            if pulled < n:
                return actions
            means[arm] = total / n + rng.laplace(0.0, 1.0 / (n * EPSILON))
        best = max(means.values())
        alive = [arm for arm in alive if means[arm] >= best - 2 * width(n, horizon)]
        n *= 2
    return actions
