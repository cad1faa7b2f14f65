"""Three epochs of twelve rounds: six to look, six with the arm that the exponential mechanism drew.

The scores of an epoch are the totals of its own six rounds, of sensitivity 1. A draw with weights exp(epsilon score / 2) is
epsilon-DP. No reward is in the scores of two epochs.
"""

import numpy as np

LOOK, EPOCH = 6, 12


def draw(scores, epsilon, rng):
    logits = 0.5 * epsilon * scores
    weights = np.exp(logits - logits.max())
    return int(rng.choice(len(scores), p=weights / weights.sum()))


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    actions = []
    while len(actions) < horizon:
        scores = np.zeros(k)
        for i in range(LOOK):
            arm = i % k
            scores[arm] += rewards[len(actions), arm]
            actions.append(arm)
        actions.extend([draw(scores, epsilon, rng)] * (EPOCH - LOOK))
    return np.array(actions[:horizon])
