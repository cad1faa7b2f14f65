"""Stay on an arm until it has disappointed too much; epsilon = 1.0.

The running loss of the current arm is compared with a noisy threshold.  Within a
segment a changed reward moves its own and all later running losses by the same
amount.  If they go up, shifting the threshold undoes it; if they go down,
shifting the noise of the crossing query does.  Only one of the two is ever paid,
so both have scale 1 / epsilon.  A crossing ends the segment: next arm, loss back
to zero, fresh threshold.
"""
from dataclasses import dataclass

import numpy as np

EPS = 1.0
PATIENCE = 3.0


@dataclass
class Segment:
    arm: int
    bar: float
    loss: float = 0.0

    def crosses(self, r, rng):
        self.loss += 1.0 - r
        return self.loss + rng.laplace(scale=1.0 / EPS) >= self.bar


def fresh(arm, rng):
    return Segment(arm, PATIENCE + rng.laplace(scale=1.0 / EPS))


def play(rewards, rng):
    T, K = rewards.shape
    seg = fresh(int(rng.integers(K)), rng)
    out = np.zeros(T, dtype=int)
    for t in range(T):
        out[t] = seg.arm
        if seg.crosses(rewards[t, seg.arm], rng):
            seg = fresh((seg.arm + 1) % K, rng)
    return out
