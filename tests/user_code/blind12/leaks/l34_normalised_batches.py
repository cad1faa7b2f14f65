"""Follow the noisy leader on normalised batches, epsilon = 1 (pure), vectorised over runs.

A batch pulls every arm four times, then serves the leader four times.  Rewards of
the batch are brought to [0, 1] so that arms on a small scale are still told apart,
summed per arm and perturbed with Laplace noise of scale 1 / eps.  Batches are
disjoint; served rewards are not used.
"""
import numpy as np

EPS = 1.0
PULLS = 4
SERVE = 4


def unit_scale(batch):
    lo, hi = batch.min(), batch.max()
    width = hi - lo
    return (batch - lo) / width if width > 0 else np.full_like(batch, 0.5)


def noisy_leader(batch, n_runs, rng):
    """batch: (PULLS, K) rewards of the round robin; same schedule in each run."""
    sums = unit_scale(batch).sum(axis=0)
    e = rng.standard_exponential((2, n_runs, sums.size))
    return np.argmax(sums + (e[0] - e[1]) / EPS, axis=1)


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    actions = np.empty((n_runs, T), dtype=np.int64)
    leader = rng.integers(0, K, n_runs)
    t = 0
    while t < T:
        if t + PULLS * K > T:
            actions[:, t:] = leader[:, None]
            break
        robin = np.tile(np.arange(K), PULLS)
        rounds = t + np.arange(robin.size)
        actions[:, rounds] = robin
        batch = np.clip(rewards[rounds, robin], 0.0, 1.0).reshape(PULLS, K)
        leader = noisy_leader(batch, n_runs, rng)
        t += robin.size
        stop = min(T, t + SERVE)
        actions[:, t:stop] = leader[:, None]
        t = stop
    return actions
