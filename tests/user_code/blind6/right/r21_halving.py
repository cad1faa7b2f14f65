"""Sequential halving."""
from math import ceil, log2

import numpy as np
from scipy import stats

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    stages = ceil(log2(K))
    contenders = np.arange(K)
    history = np.empty(0, dtype=int)
    for _ in range(stages):
        each = (T // 2) // (stages * contenders.size)
        plan = np.repeat(contenders, each)
        when = history.size + np.arange(plan.size)
        table = rewards[when, plan].reshape(contenders.size, each)
        noise = stats.laplace.rvs(scale=1 / EPSILON, size=contenders.size, random_state=rng)
        ranking = np.argsort(-(table.sum(axis=1) + noise))
        history = np.append(history, plan)
        contenders = np.sort(contenders[ranking[: ceil(contenders.size / 2)]])
    return np.append(history, np.full(T - history.size, contenders[0]))
