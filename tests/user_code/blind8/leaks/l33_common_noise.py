"""Follow the noisy leader after a round-robin pilot, many runs at once.

FAULT: the noise has shape (n_runs, 1) and is broadcast, so all arms of a run get the same Laplace draw and it cancels in
the comparison: the raw leader is always chosen.
Pair: pilot sums (2, 2.5) against (3, 2.5), one reward of arm 0 changed from 0 to 1.  Event: arm 0 after the pilot:
probability 0 against 1, infinite loss (claim 0.5).
"""
import numpy as np

EPSILON = 0.5
SWEEPS = 4


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    pilot = np.tile(np.arange(n_arms), SWEEPS)
    sums = np.zeros((n_runs, n_arms))
    for t, arm in enumerate(pilot):
        sums[:, arm] += rewards[t, arm]
    noisy = sums + rng.laplace(0.0, 1.0 / EPSILON, size=(n_runs, 1))
    leader = noisy.argmax(axis=1)
    tail = np.broadcast_to(leader[:, None], (n_runs, horizon - pilot.size))
    return np.hstack([np.broadcast_to(pilot, (n_runs, pilot.size)), tail])
