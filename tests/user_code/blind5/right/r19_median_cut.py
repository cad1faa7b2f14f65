"""Median elimination with staircase noise on each phase's totals."""
import numpy as np

EPSILON = 1.0
GAMMA = 1.0 / (1.0 + np.exp(EPSILON / 2.0))


def staircase(rng):
    b = np.exp(-EPSILON)
    sign = 1 if rng.random() < 0.5 else -1
    step = rng.geometric(1.0 - b) - 1
    u = rng.random()
    if rng.random() < GAMMA / (GAMMA + (1.0 - GAMMA) * b):
        return sign * (step + GAMMA * u)
    return sign * (step + GAMMA + (1.0 - GAMMA) * u)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    alive = np.arange(n_arms)
    t, out, pulls = 0, [], 8
    while alive.size > 1 and t + pulls * alive.size <= horizon:
        totals = np.zeros(alive.size)
        for i, arm in enumerate(alive):
            totals[i] = rewards[t:t + pulls, arm].sum() + staircase(rng)
            out.extend([int(arm)] * pulls)
            t += pulls
        alive = alive[totals >= np.median(totals)] if alive.size > 2 else alive[[np.argmax(totals)]]
        pulls += 4
    out.extend([int(alive[0])] * (horizon - t))
    return out
