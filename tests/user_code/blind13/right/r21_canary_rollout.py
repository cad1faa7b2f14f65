"""Canary rollout with a private guard rail (sparse vector technique).

Candidates 1..K-1 take turns as canary.  While a canary is live its accumulated shortfall (1 - reward)
is compared each round, with fresh noise, to a noisy limit; a trip sends traffic to baseline 0 for a
cool-down.  One AboveThreshold per stage, stages see disjoint rewards.  Changing one reward moves all
shortfalls in the same direction, by at most one, hence the monotone form of the technique:
limit noise Laplace(1/eps1), query noise Laplace(1/eps2), eps1 + eps2 = epsilon = 2.0.
"""
import itertools
import numpy as np

EPSILON = 2.0
EPS_LIMIT, EPS_QUERY = 0.5 * EPSILON, 0.5 * EPSILON
STAGE_LENGTH, COOL_DOWN, LIMIT = 10, 3, 4.0


def rollout(n_arms, rng):
    """Generator: yields the arm to serve, is sent the reward of that round."""
    for canary in itertools.cycle(range(1, n_arms)):
        limit = LIMIT + rng.laplace(0.0, 1.0 / EPS_LIMIT)
        shortfall = 0.0
        for _ in range(STAGE_LENGTH):
            reward = yield canary
            shortfall += 1.0 - min(1.0, max(0.0, reward))
            if shortfall + rng.laplace(0.0, 1.0 / EPS_QUERY) >= limit:
                tripped = True
                break
        else:
            tripped = False
        if tripped:
            for _ in range(COOL_DOWN):
                yield 0


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    service = rollout(n_arms, rng)
    arm = next(service)
    served = []
    for t in range(horizon):
        served.append(arm)
        arm = service.send(float(rewards[t, arm]))
    return np.asarray(served, dtype=int)
