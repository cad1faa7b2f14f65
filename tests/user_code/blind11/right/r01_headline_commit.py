"""Explore-then-commit for three headlines of a web page.

Claim: pure epsilon = 1 for one changed reward.
Proof.  The first 36 rounds follow a fixed rota, so they carry no information.  A reward of these
rounds enters exactly one of the three click sums and moves it by at most 1.  The vector of sums has
L1 sensitivity 1, and Laplace noise of scale 1/epsilon on each makes the noisy vector epsilon-DP.
The winner is a function of the noisy vector; rewards of the commit rounds are never read.
"""
import numpy as np

EPSILON = 1.0
ARMS = 3
HORIZON = 48
VISITS_EACH = 12


def play(rewards, rng):
    horizon, n_pages = rewards.shape
    actions = np.zeros(horizon, dtype=int)
    clicks = [0.0] * n_pages
    trial = min(horizon, VISITS_EACH * n_pages)

    # test: headlines shown in turn
    for t in range(trial):
        page = t % n_pages
        actions[t] = page
        clicks[page] += float(rewards[t, page])

    # the only look at the data
    best = 0
    best_score = -float("inf")
    for page in range(n_pages):
        score = clicks[page] + rng.laplace(0.0, 1.0 / EPSILON)
        if score > best_score:
            best, best_score = page, score

    for t in range(trial, horizon):
        actions[t] = best
    return actions
