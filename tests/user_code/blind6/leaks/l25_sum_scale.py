"""Removes the weakest arm after every stage."""
import numpy as np
from scipy import stats

EPSILON = 1.0
N = 6


def noisy_sum(values, rng):
    b = 1 / (EPSILON * len(values))
    return np.sum(values) + stats.laplace(scale=b).rvs(random_state=rng)


def play(rewards, rng):
    T, K = rewards.shape
    arms = list(range(K))
    actions = []
    while len(arms) > 1:
        score = []
        for a in arms:
            lo = len(actions)
            actions.extend([a] * N)
            score.append(noisy_sum(rewards[lo:lo + N, a], rng))
        arms.pop(int(np.argmin(score)))
    actions.extend(arms * (T - len(actions)))
    return np.array(actions)
