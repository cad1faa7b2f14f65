"""Greedy over batches of eight stories with Gaussian noise on each batch total.
Proof: a reward is in one batch total (sensitivity 1). sigma = sqrt(2 ln(1.25/DELTA))/EPSILON with
EPSILON < 1 is the classical Gaussian mechanism, so the total is (EPSILON, DELTA)-DP. Which arm
is played in a batch is a function of earlier noisy totals; the reward enters no other total."""
import math
import numpy as np
EPSILON = 0.9
DELTA = 1e-3
SIGMA = math.sqrt(2 * math.log(1.25 / DELTA)) / EPSILON


def play(rewards, rng):
    T, K = rewards.shape
    acts = np.empty(T, dtype=int)
    est = np.full(K, np.inf)
    for lo in range(0, T, 8):
        arm, hi = int(np.argmax(est)), min(T, lo + 8)
        acts[lo:hi] = arm
        noisy = (rewards[lo:hi, arm].sum() + rng.normal(0, SIGMA)) / (hi - lo)
        est[arm] = noisy if np.isinf(est[arm]) else 0.5 * (est[arm] + noisy)
    return acts
