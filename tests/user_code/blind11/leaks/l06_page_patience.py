"""Pages shown one after the other: a page is retired when its noisy number of lost visitors passes three.

Claim: pure epsilon = 1 for one changed reward.
Fault: the noise of a page is drawn once and used again at every visit, so only the running total moves
between two checks (a sparse vector with a noisy limit but exact totals).
Pair: the first page has reward 0 or 1 in round 4, other rewards 0.5.  Event: it is retired right after
round 4.  Probability of noise in (0.5, 1.5] = .1917 with reward 0, and 0 with reward 1: infinite loss.
"""
import numpy as np

EPSILON = 1.0
ARMS = 3
HORIZON = 36
PATIENCE = 3.0


def play_many(rewards, n_runs, rng):
    horizon, n_pages = rewards.shape
    runs = np.arange(n_runs)
    lost = np.zeros((n_runs, n_pages))
    noise = rng.laplace(0.0, 1.0 / EPSILON, size=(n_runs, n_pages))
    page = np.zeros(n_runs, dtype=int)
    out = np.empty((n_runs, horizon), dtype=int)
    for t in range(horizon):
        out[:, t] = page
        lost[runs, page] += 1.0 - rewards[t, page]
        tired = lost[runs, page] + noise[runs, page] > PATIENCE
        page = np.where(tired & (page < n_pages - 1), page + 1, page)
    return out
