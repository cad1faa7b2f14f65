"""Batched successive elimination with doubling, non-overlapping batches.

In stage s every surviving arm is pulled 2**(s+1) times; only that stage's sum
is used, once, with Laplace(1 / EPSILON) noise.  Survivors share the tail.
Claim: 1.0-DP (pure) for one reward in [0, 1].
"""
import numpy as np

EPSILON = 1.0
N_ARMS = 3
HORIZON = 60


def radius(n, alive, beta=0.4):
    """Sampling error plus Laplace tail of a batch mean of n pulls."""
    log_term = np.log(2 * alive / beta)
    return np.sqrt(log_term / (2 * n)) * 0.5 + log_term / (EPSILON * n) * 0.5


def schedule(alive, pulls):
    return [arm for _ in range(pulls) for arm in alive]


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions = np.zeros(horizon, dtype=int)
    alive = list(range(n_arms))
    t, stage = 0, 0
    while t < horizon:
        pulls = 2 ** (stage + 1)
        plan = schedule(alive, pulls)
        batch = dict.fromkeys(alive, 0.0)
        complete = t + len(plan) <= horizon
        for arm in plan[: horizon - t]:
            actions[t] = arm
            batch[arm] += rewards[t, arm]
            t += 1
        if not complete or len(alive) == 1:
            stage += 1
            continue
        noisy = {a: (batch[a] + rng.laplace(scale=1.0 / EPSILON)) / pulls for a in alive}
        best = max(noisy.values())
        rad = radius(pulls, len(alive))
        alive = [a for a in alive if noisy[a] >= best - 2 * rad]
        stage += 1
    return actions
