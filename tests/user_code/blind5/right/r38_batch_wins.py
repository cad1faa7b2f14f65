"""Stay with an arm as long as its noisy number of wins per batch is at least half."""
import numpy as np

EPSILON = 1.0


def geometric_by_log(rng):
    """Number of failures before success with success probability 1 - exp(-EPSILON)."""
    return int(np.floor(-np.log1p(-rng.random()) / EPSILON))


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions, arm, size = [], 0, 4
    while len(actions) < horizon:
        t = len(actions)
        window = rewards[t:t + size, arm]
        actions.extend([arm] * len(window))
        wins = int(np.count_nonzero(window >= 0.5))
        noisy = wins + geometric_by_log(rng) - geometric_by_log(rng)
        if 2 * noisy >= len(window):
            size = min(size * 2, 16)
        else:
            arm = (arm + 1) % n_arms
            size = 4
    return actions
