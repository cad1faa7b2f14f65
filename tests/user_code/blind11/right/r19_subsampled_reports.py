"""Secretly subsampled randomised response driving stay-or-shift.

Claim: EPSILON, pure. Proof: with probability Q=1/2 (secret) the rounded bit goes through randomised response of odds g,
otherwise a fair coin is sent. P(1|r=1)=Q g/(1+g)+(1-Q)/2, P(1|r=0)=Q/(1+g)+(1-Q)/2; their ratio is
((1+Q)g+1-Q)/((1+Q)+(1-Q)g), set equal to E=e^eps by g=((1+Q)E-(1-Q))/((1+Q)-(1-Q)E) (positive since E<3).
By symmetry of 0 and 1 the report is exactly eps-DP; one report for each reward, actions follow reports.
"""
import math
import numpy as np

EPSILON = 0.9
Q = 0.5


def _odds():
    e = math.exp(EPSILON)
    return ((1 + Q) * e - (1 - Q)) / ((1 + Q) - (1 - Q) * e)


def play(rewards, rng):
    horizon, arms = rewards.shape
    g = _odds()

    def reports():
        arm = 0
        for t in range(horizon):
            yield arm
            bit = int(rng.random() < rewards[t, arm])
            if rng.random() < Q:
                sent = bit ^ int(rng.random() < 1 / (1 + g))
            else:
                sent = int(rng.integers(2))
            arm = arm if sent else (arm + 1) % arms

    return np.fromiter(reports(), dtype=int, count=horizon)
