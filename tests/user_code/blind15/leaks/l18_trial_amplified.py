"""Trial and deployment bandit. Claims epsilon = 1, pure, with privacy amplification by sampling.

In a trial round a candidate arm is tried with probability Q and logged; otherwise the control arm 0 is played and nothing is
logged. As each round is only sampled with probability Q, the selection may run at epsilon0 = log(1 + (e^epsilon - 1)/Q).
Trial (20 rounds) and deployment (10 rounds) alternate; each trial's log is used once.
"""
import math
from collections import Counter

import numpy as np

EPSILON, Q, BASELINE = 1.0, 0.3, 0.5
TRIAL, DEPLOY = 20, 10
EPSILON0 = math.log(1 + (math.exp(EPSILON) - 1) / Q)


def exponential_choice(scores, eps, rng):
    logits = eps * np.asarray(scores)
    weights = np.exp(logits - logits.max())
    return int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right"))


def play(rewards, rng):
    T, K = rewards.shape
    actions, t = [], 0
    while t < T:
        lift = Counter({arm: 0.0 for arm in range(K)})
        for _ in range(min(TRIAL, T - t)):
            if rng.random() < Q:
                arm = int(rng.integers(1, K))
                lift[arm] += rewards[t, arm] - BASELINE
            else:
                arm = 0
            actions.append(arm)
            t += 1
        best = exponential_choice([lift[a] for a in range(K)], EPSILON0, rng)
        best = min(best, K - 1)
        for _ in range(min(DEPLOY, T - t)):
            actions.append(best)
            t += 1
    return np.array(actions)
