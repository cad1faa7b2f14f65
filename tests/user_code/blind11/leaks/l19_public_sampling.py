"""Telemetry of every fourth round through randomised response, with amplification by sampling.

Fault: the amplified epsilon ln(1+(e^eps-1)/q) needs secret random sampling; here the sampled rounds are the public t%4==0.
Pair: rewards[0,0] = 1 against 0. Event: arm 0 in round 1 (report 1).
Ratio = exp(e0), e0 = ln(1+4(e^.5-1)) = 1.2795: 2.56 times the claim .5.
"""
import math
import numpy as np

EPSILON = 0.5
EVERY = 4


def play(rewards, rng):
    horizon, arms = rewards.shape
    local = math.log1p((math.exp(EPSILON) - 1) * EVERY)
    keep = 1 / (1 + math.exp(-local))
    actions = np.zeros(horizon, dtype=int)
    arm = 0
    for t in range(horizon):
        actions[t] = arm
        if t % EVERY == 0:
            bit = rng.random() < rewards[t, arm]
            report = bool(bit) == bool(rng.random() < keep)
            if not report:
                arm = (arm + 1) % arms
    return actions
