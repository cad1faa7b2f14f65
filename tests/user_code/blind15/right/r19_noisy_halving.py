"""Sequential halving with fresh samples in each stage and Laplace noise on the stage sums.

Claims epsilon = 1, pure: stages use disjoint rewards, one reward sits in one stage sum (sensitivity 1),
and each stage sum gets Laplace(1/epsilon) once.
"""
import heapq

import numpy as np

EPSILON = 1.0
STAGES = (4, 8)            # pulls per surviving arm


def halving(n_arms, horizon, rng):
    """Coroutine: yields the arm to pull, is sent its reward."""
    survivors = list(range(n_arms))
    used = 0
    for pulls in STAGES:
        stage_sum = dict.fromkeys(survivors, 0.0)
        for _ in range(pulls):
            for arm in survivors:
                stage_sum[arm] += yield arm
                used += 1
        noisy = [(stage_sum[a] + rng.laplace(scale=1.0 / EPSILON), a) for a in survivors]
        keep = heapq.nlargest(max(1, len(survivors) // 2), noisy)
        survivors = sorted(a for _, a in keep)
    while used < horizon:
        yield survivors[0]
        used += 1


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    agent = halving(n_arms, horizon, rng)
    actions = np.empty(horizon, dtype=int)
    arm = next(agent)
    for t in range(horizon):
        actions[t] = arm
        if t + 1 < horizon:
            arm = agent.send(float(rewards[t, arm]))
    return actions
