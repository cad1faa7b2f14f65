"""Win-stay, lose-shift on four-level reports, keep probability taken from the binary formula.

Fault: keep = e^eps/(1+e^eps) is right for two levels; with four levels the rest is shared by three.
Pair: rewards[0,0] = 1 against 0. Event: arm 0 again in round 1 (report is the top level).
P = keep against (1-keep)/3, ratio 3e^eps: loss 1 + ln 3 = 2.0986 against the claim 1.
"""
import math
import numpy as np

EPSILON = 1.0
LEVELS = 4


def play(rewards, rng):
    horizon, arms = rewards.shape
    keep = math.exp(EPSILON) / (1 + math.exp(EPSILON))

    def report(r):
        level = min(LEVELS - 1, int(r * LEVELS))
        if rng.random() < keep:
            return level
        return int(rng.choice([v for v in range(LEVELS) if v != level]))

    actions = [0]
    while len(actions) < horizon:
        arm = actions[-1]
        top = report(rewards[len(actions) - 1, arm]) == LEVELS - 1
        actions.append(arm if top else (arm + 1) % arms)
    return np.array(actions, dtype=int)
