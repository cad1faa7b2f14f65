"""Stay with an arm until a private CUSUM alarm, then move to the next one.

The alarm is the sparse vector technique on the CUSUM statistic of the current
arm: g <- max(0, g + drift - r).  A reward moves all later values of g in the
same direction and by at most 1, so the monotone version applies: threshold
noise Lap(1/e1), query noise Lap(1/e2), e1 + e2 = epsilon.  After an alarm the
statistic and the threshold start afresh, so no reward is used in two segments.
Claim: epsilon = 1.5.
"""
import numpy as np

EPS_THRESHOLD = 0.75
EPS_QUERY = 0.75
DRIFT = 0.5
LEVEL = 2.0


class Monitor:
    """AboveThreshold for one segment."""

    def __init__(self, rng):
        self.rng = rng
        self.g = 0.0
        self.level = LEVEL + rng.laplace(0.0, 1.0 / EPS_THRESHOLD)

    def alarm(self, reward):
        self.g = max(0.0, self.g + DRIFT - reward)
        return self.g + self.rng.laplace(0.0, 1.0 / EPS_QUERY) >= self.level


def play(rewards, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    arm, monitor = 0, Monitor(rng)
    actions = []
    for row in rewards:
        actions.append(arm)
        if monitor.alarm(row[arm]):
            arm = (arm + 1) % k
            monitor = Monitor(rng)
    return actions
