"""Private successive elimination, many runs at a time.

Claim: epsilon = 1 (pure).  Epoch e pulls each surviving arm 2**e times; the sums are of that epoch only and get
Laplace(1 / epsilon) noise by inverse CDF.  After the epoch arms far below the best noisy mean are dropped and all
sums are forgotten, so every reward is used in one noisy sum.
"""
import numpy as np

EPS = 1.0
K, T = 4, 60


def inverse_cdf_laplace(rng, shape, scale):
    u = rng.random(shape) - 0.5
    return -scale * np.sign(u) * np.log1p(-2.0 * np.abs(u))


def play_many(rewards, n_runs, rng):
    rows = np.arange(n_runs)
    alive = np.ones((n_runs, K), dtype=bool)
    pulls = np.zeros((n_runs, K), dtype=int)
    sums = np.zeros((n_runs, K))
    epoch = np.zeros(n_runs, dtype=int)
    out = np.empty((n_runs, T), dtype=int)
    for t in range(T):
        arm = np.where(alive, pulls, np.iinfo(np.int64).max).argmin(axis=1)
        out[:, t] = arm
        pulls[rows, arm] += 1
        sums[rows, arm] += rewards[t, arm]

        quota = 2 ** epoch
        finished = ~(alive & (pulls < quota[:, None])).any(axis=1)
        judged = finished & (alive.sum(axis=1) > 1)
        if judged.any():
            n = quota[judged][:, None]
            mean = (sums[judged] + inverse_cdf_laplace(rng, (judged.sum(), K), 1.0 / EPS)) / n
            mean = np.where(alive[judged], mean, -np.inf)
            margin = 1.0 / np.sqrt(n) + 2.0 / (EPS * n)
            alive[judged] &= mean >= mean.max(axis=1, keepdims=True) - margin
        epoch[finished] = np.minimum(epoch[finished] + 1, 30)
        pulls[finished] = 0
        sums[finished] = 0.0
    return out
