"""Successive rejects on running totals, the budget shared equally by the phases."""
import numpy as np
from scipy import stats

EPSILON = 2.0


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    phases = n_arms - 1
    noise = stats.laplace(scale=phases / EPSILON)
    per_phase = horizon // (2 * n_arms)
    totals = np.zeros(n_arms)
    alive = list(range(n_arms))
    log = []
    for _ in range(phases):
        for arm in alive:
            t = len(log)
            stop = min(t + max(1, per_phase // len(alive) + 2), horizon)
            totals[arm] += rewards[t:stop, arm].sum()
            log += [arm] * (stop - t)
        noisy = totals[alive] + noise.rvs(size=len(alive), random_state=rng)
        alive.pop(int(np.argmin(noisy)))
    log += [alive[0]] * (horizon - len(log))
    return np.asarray(log, dtype=int)
