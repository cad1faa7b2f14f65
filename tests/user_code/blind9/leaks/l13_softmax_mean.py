"""Explore, then commit by a softmax of the mean clicks.
Fault: the mean of 6 rewards is scaled as if it were one of 10, so a reward moves the logit by
10/6*EPSILON. Pair, K=2: arm 0 all 0, arm 1 all 1, or one reward of arm 0 set to 1; event: commits
to arm 0. Loss = 4/3 - ln(1+e^-6.667) + ln(1+e^-8) = 1.332 (claim 0.8)."""
import numpy as np
from scipy.special import softmax
EPSILON = 0.8
PER_ARM = 6
WINDOW = 10


def play(rewards, rng):
    T, K = rewards.shape
    head = np.tile(np.arange(K), PER_ARM)
    means = rewards[np.arange(head.size), head].reshape(PER_ARM, K).mean(axis=0)
    pick = rng.choice(K, p=softmax(EPSILON * WINDOW * means))
    return np.append(head, np.full(T - head.size, pick))
