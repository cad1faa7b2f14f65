"""Explore, then commit by the exponential mechanism on advantages.

FAULT: the score of an arm is its sum minus the mean sum of the other two arms, but the weights are exp(EPSILON * score)
as if one reward moved one score by 1.  A reward moves its own score by 1 and the others by -1/2, so the log-odds move
by 1.5 EPSILON.  Pair: 3 arms, 5 pulls each, arms 1 and 2 total 3 each, arm 0 totals 0 or 1 (one reward 0 -> 1).  Event:
arm 0 is committed to, given a plan that pulls it in the changed round (1/3): P = 1 / (1 + 2 e^4.5) = 0.0055 against
1 / (1 + 2 e^3) = 0.0243, loss 1.48 (claim 1.0).
"""
import numpy as np

EPSILON = 1.0
PULLS = 5


def advantages(sums):
    others = (sums.sum() - sums) / (len(sums) - 1)
    return sums - others


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    explore = rng.permutation(np.repeat(np.arange(n_arms), PULLS))
    seen = rewards[np.arange(len(explore)), explore]
    sums = np.bincount(explore, weights=seen, minlength=n_arms)
    logits = EPSILON * advantages(sums)
    weights = np.exp(logits - logits.max())
    chosen = rng.choice(n_arms, p=weights / weights.sum())
    return np.concatenate([explore, np.full(horizon - len(explore), chosen)])
