"""Explore every arm M times, then commit by the exponential mechanism on scores rescaled to [0, M]; many runs at once.

Fault: min-max rescaling divides by the spread of the data, so the scores are not 1-Lipschitz in a reward any more.
Pair (K = 3, M = 4): arms 1 and 2 pay 0.5 each time (sums 2), arm 0 pays 0.5 three times and once 1 or 0 (sum 2.5 or
1.5).  The scores are (4, 0, 0) or (0, 4, 4).  Event: commit to arm 0.  With A = e^{4 EPSILON} the chances are
A / (A + 2) and 1 / (1 + 2 A); at EPSILON = 0.8 the loss is ln(A (1 + 2A) / (A + 2)) = 3.84 = 4.8 EPSILON.
"""
import numpy as np

EPSILON = 0.8
M = 4


def rescaled(sums):
    spread = np.ptp(sums)
    if spread == 0:
        return np.zeros_like(sums)
    return M * (sums - sums.min()) / spread


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    explore = np.arange(K * M) % K
    sums = np.bincount(explore, weights=rewards[np.arange(K * M), explore], minlength=K)
    logits = EPSILON * rescaled(sums)
    cdf = np.cumsum(np.exp(logits - logits.max()))
    chosen = np.searchsorted(cdf / cdf[-1], rng.random(n_runs), side="right")
    actions = np.empty((n_runs, T), dtype=int)
    actions[:, : K * M] = explore
    actions[:, K * M:] = np.minimum(chosen, K - 1)[:, None]
    return actions
