"""Local privacy: bits through randomised response, counts compared; equal counts go to the better arm."""
import numpy as np


def play(rewards, rng):
    T, K = rewards.shape
    eps = 0.5
    hi = np.exp(eps) / (1 + np.exp(eps))
    counts = np.zeros(K)
    true_sum = np.zeros(K)
    arms = np.zeros(T, int)
    for t in range(4):
        a = arms[t] = t % K
        x = rewards[t, a]
        true_sum[a] += x
        counts[a] += rng.random() < (1 - hi) + (2 * hi - 1) * x
    if counts[0] != counts[1]:
        best = np.argmax(counts)
    else:
        best = np.argmax(true_sum)
    arms[4:] = best
    return arms
