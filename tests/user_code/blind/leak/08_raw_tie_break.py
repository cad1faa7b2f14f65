"""Noisy sums are shown on a coarse scale (steps of 8); ties go to the arm that has earned more.

Flaw: ties are the rule, and they are broken by the raw sums. Pair: arm 1 earns 1/2 in its first pull; arm 0 earns 0 in its
first pull, against 1; all else 0. Shown values are 0 unless noise of scale 1 leaves (-4, 4). With the 1, arm 1
is chosen only if shown values differ: at most P(n1 >= 3.5) + P(n0 < -5) = (e^-3.5 + e^-5) / 2 = 0.0185. With the 0, arm 1
is chosen unless they differ: at least 1 - (e^-4 + e^-4.5) / 2 = 0.985. log-ratio 3.97.
"""

import numpy as np

EPSILON = 1.0
STEP = 8.0


def play(rewards, rng):
    T, K = rewards.shape
    explore = min(T, 5 * K)
    actions = np.arange(T) % K
    earned = np.zeros(K)
    for t in range(explore):
        earned[actions[t]] += rewards[t, actions[t]]
    shown = np.round((earned + rng.laplace(0, 1 / EPSILON, K)) / STEP)
    ranking = sorted(range(K), key=lambda a: (shown[a], earned[a]), reverse=True)
    actions[explore:] = ranking[0]
    return actions
