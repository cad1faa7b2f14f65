"""Follow the noisy leader with releases at doubling counts.

Every arm is pulled four times first.  The total of an arm is published when its
number of pulls reaches 4, 8, 16, ...; a reward takes part in at most
floor(log2 T) - 1 publications, so every one gets an equal share of the budget.
Ten per cent of the later rounds explore at random.
Claim: epsilon = 1.0 for one reward.
"""
import functools

import numpy as np

EPS = 1.0
EXPLORE = 0.1
FIRST = 4


def make_noise(horizon, rng):
    publications = horizon.bit_length() - 2
    scale = publications / EPS

    @functools.lru_cache(maxsize=None)
    def noise(count):
        """Noise of the publication at `count` pulls, stable if asked again."""
        return rng.laplace(0.0, scale)

    return noise


def published(count):
    """Largest power of two not above count."""
    return 1 << (count.bit_length() - 1)


def play(rewards, rng):
    rewards = np.asarray(rewards, dtype=float)
    horizon, k = rewards.shape
    noise = make_noise(horizon, rng)
    pulls = [0] * k
    exact = [0.0] * k
    snapshot = [0.0] * k

    def noisy_mean(arm):
        n = published(pulls[arm])
        return (snapshot[arm] + noise(n)) / n

    actions = []
    for t in range(horizon):
        if t < FIRST * k:
            arm = t % k
        elif rng.random() < EXPLORE:
            arm = int(rng.integers(k))
        else:
            arm = max(range(k), key=noisy_mean)
        actions.append(arm)
        pulls[arm] += 1
        exact[arm] += rewards[t, arm]
        if pulls[arm] >= FIRST and published(pulls[arm]) == pulls[arm]:
            snapshot[arm] = exact[arm]
    return actions
