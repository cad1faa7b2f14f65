"""Gradient bandit (softmax preferences) whose gradient is taken once an epoch from noisy sums.

Proof.  The actions of an epoch are drawn from a policy fixed before it, so the pulls per arm are visible anyway.
At its end each arm's sum of the epoch's rewards gets Laplace noise of scale 1/EPSILON (a difference of two
exponentials with rate EPSILON) and the raw sums are dropped.  A reward sits in exactly one sum of one epoch and
moves it by at most 1, so given equal histories that one noisy sum has loss <= EPSILON and no other differs.
Preferences, baseline and all later actions are computed from noisy sums and visible counts: post-processing.
"""
import math
import random
from itertools import accumulate

import numpy as np

EPSILON = 1.0
N_ARMS = 3
HORIZON = 48
EPOCH = 12
STEP = 0.6


def softmax(h):
    top = max(h)
    w = [math.exp(x - top) for x in h]
    total = sum(w)
    return [x / total for x in w]


def learner(k, coin):
    """Coroutine: yields an arm, is sent the reward of that arm."""
    prefs = [0.0] * k
    baseline = 0.5
    while True:
        policy = softmax(prefs)
        edges = list(accumulate(policy))
        sums, counts = [0.0] * k, [0] * k
        for _ in range(EPOCH):
            u = coin.random() * edges[-1]
            arm = next((i for i, edge in enumerate(edges) if u < edge), k - 1)
            reward = yield arm
            sums[arm] += reward
            counts[arm] += 1
        noisy = [s + coin.expovariate(EPSILON) - coin.expovariate(EPSILON) for s in sums]
        gains = [y - baseline * n for y, n in zip(noisy, counts)]
        prefs = [h + STEP * (g - p * sum(gains)) for h, g, p in zip(prefs, gains, policy)]
        baseline = 0.5 * baseline + 0.5 * min(1.0, max(0.0, sum(noisy) / EPOCH))


def play(rewards, rng):
    coin = random.Random(int(rng.integers(2**63)))
    agent = learner(rewards.shape[1], coin)
    arm = next(agent)
    out = []
    for row in rewards:
        out.append(arm)
        arm = agent.send(float(row[arm]))
    return np.array(out, dtype=int)
