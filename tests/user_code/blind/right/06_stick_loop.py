"""Soft selection of an arm by walking through the arms and flipping a coin at each.

Privacy. Arm a is accepted with probability w_a / (w_a + ... + w_K) if it is reached, so that overall it is
chosen with probability w_a / sum(w), w_a = exp(epsilon * x_a). x_a is the sum of what the arm earned in
the current window; one reward moves one x_a by at most 1
and hence log-probabilities by at most epsilon (one weight moves, the normaliser moves the same way
and by less). Windows do not overlap.
"""

import math

import numpy as np

EPSILON = 1.0


def soft_choice(x, rng):
    top = max(x)
    w = [math.exp(EPSILON * (v - top)) for v in x]
    rest = sum(w)
    for a in range(len(w) - 1):
        if rng.random() < w[a] / rest:
            return a
        rest -= w[a]
    return len(w) - 1


def play(rewards, rng):
    n_rounds, n_arms = rewards.shape
    window = 4 * n_arms
    history = []
    favourite = None
    pulls, totals = [0] * n_arms, [0.0] * n_arms
    for t in range(n_rounds):
        if favourite is None or t % 2 == 0:
            arm = (t // 2) % n_arms if favourite is not None else t % n_arms
        else:
            arm = favourite
        history.append(arm)
        pulls[arm] += 1
        totals[arm] += float(rewards[t, arm])
        if (t + 1) % window == 0:
            favourite = soft_choice(totals, rng)
            pulls, totals = [0] * n_arms, [0.0] * n_arms
    return np.array(history)
