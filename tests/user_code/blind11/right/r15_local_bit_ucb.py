"""UCB over locally randomised bits.

Claim: EPSILON, pure. Proof: each reward is read once, rounded to a bit b with P(b=1)=r, and b goes through randomised
response, P(report=b)=e^eps/(1+e^eps). P(report=1|r) lies in [1-p, p], so any two rewards give report laws within e^eps.
All actions are a function of reports (and the round number) only: post-processing plus adaptive composition over
disjoint rounds gives eps for a change of one reward.
"""
import math
import numpy as np

EPSILON = 1.2


def play(rewards, rng):
    horizon, arms = rewards.shape
    keep = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    pulls, ones = [0] * arms, [0] * arms

    def index(a, t):
        mean = (ones[a] / pulls[a] - (1 - keep)) / (2 * keep - 1)
        return mean + math.sqrt(0.5 * math.log(t + 1) / pulls[a])

    out = []
    for t in range(horizon):
        arm = t if t < arms else max(range(arms), key=lambda a: index(a, t))
        bit = rng.random() < rewards[t, arm]
        report = bit if rng.random() < keep else not bit
        pulls[arm] += 1
        ones[arm] += int(report)
        out.append(arm)
    return np.array(out, dtype=int)
