"""A bandit as a generator that hears only noisy rewards.

Each reward gets Laplace noise of scale 1/epsilon once (range 1), and is then forgotten; all later rounds use the noisy value.
"""

import math


def bandit(n_arms, horizon, rng, epsilon=1.0):
    heard = [[] for _ in range(n_arms)]
    for t in range(horizon):
        fresh = [a for a in range(n_arms) if not heard[a]]
        if fresh:
            arm = fresh[0]
        else:
            index = [
                sum(h) / len(h) + math.sqrt(2 * math.log(t + 1) / len(h)) / epsilon for h in heard
            ]
            arm = index.index(max(index))
        reward = yield arm
        heard[arm].append(reward + rng.laplace(0, 1 / epsilon))
