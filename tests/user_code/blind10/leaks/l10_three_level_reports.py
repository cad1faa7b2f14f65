"""Win-stay, lose-shift on locally randomised three level ratings, vectorised over runs.

FAULT: the keep probability e^EPSILON / (1 + e^EPSILON) is the one for two answers, but the rating has LEVELS = 3 answers and
the rest of the mass is shared by the other two; it should be e^EPSILON / (LEVELS - 1 + e^EPSILON).
Pair: reward of round 0 (all arms) equal to 0 against 1.  Event: the arm of round 1 differs from that of round 0, which is
"the report of round 0 is the lowest level".  Probabilities p = e^1.5/(1+e^1.5) = 0.8176 and (1-p)/2 = 0.0912,
loss = EPSILON + log 2 = 2.193 (1.46 times the claim).
"""
import numpy as np

EPSILON = 1.5
LEVELS = 3


def _report(rating, rng):
    keep = np.exp(EPSILON) / (1 + np.exp(EPSILON))
    other = (rating + rng.integers(1, LEVELS, size=rating.shape)) % LEVELS
    return np.where(rng.random(rating.shape) < keep, rating, other)


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    ratings = np.minimum((rewards * LEVELS).astype(int), LEVELS - 1)
    actions = np.empty((n_runs, horizon), dtype=int)
    arm = rng.integers(n_arms, size=n_runs)
    for t in range(horizon):
        actions[:, t] = arm
        report = _report(ratings[t, arm], rng)
        arm = np.where(report > 0, arm, (arm + 1) % n_arms)
    return actions
