"""Stay or switch after each batch, judged by its noisy sum."""
from functools import lru_cache

EPSILON = 1.0
BATCH = 5


def make_noise(rng):
    @lru_cache(maxsize=None)
    def noise(arm, scale):
        return rng.laplace(0.0, scale)

    return noise


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    noise = make_noise(rng)
    arm, arms = 0, []
    for start in range(0, horizon, BATCH):
        batch = rewards[start:start + BATCH, arm]
        arms += [arm] * len(batch)
        if batch.sum() + noise(arm, 1.0 / EPSILON) < len(batch) / 2:
            arm = (arm + 1) % n_arms
    return arms
