"""Epochs of probes; after each the exponential mechanism (by Gumbel noise) names the arm of the rest of the epoch.  Many runs at once.

FAULT: the scores are window sums over this epoch and the one before, so a probe enters two choices, but each choice spends eps.
Pair (K = 2, three probes per arm and epoch): in every epoch arm 1 collects 1 and arm 0 collects 0, against the same with one probe of
arm 0 in epoch 1 (the second) equal to 1.  Event: arm 0 is named in epochs 1 and 2.  Each of the two choices has
probability 1/(1 + e^2) = 0.1192 against 1/(1 + e) = 0.2689: loss 2 * 0.8136 = 1.627 for a claim of 1.0 (the supremum is 2).
"""
import numpy as np

EPSILON = 1.0
PROBES = 3
REST = 4
WINDOW = 2


def play_many(rewards, n_runs, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    probing = np.tile(np.arange(k), PROBES)
    actions = np.zeros((n_runs, horizon), dtype=int)
    history = []
    for start in range(0, horizon, probing.size + REST):
        rounds = np.arange(start, min(start + probing.size, horizon))
        arms = probing[: rounds.size]
        actions[:, rounds] = arms
        history.append(np.bincount(arms, weights=rewards[rounds, arms], minlength=k))
        score = np.sum(history[-WINDOW:], axis=0)
        named = np.argmax(EPSILON * score + rng.gumbel(size=(n_runs, k)), axis=1)
        stop = start + probing.size + REST
        actions[:, start + probing.size : stop] = named[:, None]
    return actions
