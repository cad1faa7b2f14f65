"""Keep the front page story (arm 1) if its Gaussian total passes a gate.
Fault: sigma = 1/EPSILON lacks sqrt(2 ln(1.25/DELTA)). Pair: total of 8 rewards 1.361 or 0.361, event: arm 1 kept
(total + noise > 4). P - e^x Q = DELTA at x = 3.138 (claim 1)."""
import numpy as np
from scipy import stats
EPSILON = 1.0
DELTA = 1e-3


def play(rewards, rng):
    T = rewards.shape[0]
    kept = rewards[:8, 1].sum() + stats.norm.rvs(scale=1 / EPSILON, random_state=rng) > 4
    return np.concatenate([np.ones(8, dtype=int), np.full(T - 8, int(kept))])
