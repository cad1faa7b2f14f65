"""Sequential halving, all runs at once. Fresh totals per stage, noise E1-E2 with E ~ Exp(mean 1/EPSILON).
Proof: the difference of two such exponentials is Laplace(1/EPSILON); a reward is in one
stage total of one arm, sensitivity 1. Later stages use new rewards, chosen from noisy totals."""
import numpy as np
EPSILON = 1.2


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    live = np.tile(np.arange(K), (n_runs, 1))
    acts, t, rep = np.zeros((n_runs, T), dtype=int), 0, 4
    while live.shape[1] > 1 and t + rep * live.shape[1] <= T:
        k = live.shape[1]
        block = np.tile(live, (1, rep))
        acts[:, t:t + rep * k] = block
        got = rewards[np.arange(t, t + rep * k)[None, :], block].reshape(n_runs, rep, k).sum(axis=1)
        e = rng.exponential(1 / EPSILON, (2, n_runs, k))
        order = np.argsort(-(got + e[0] - e[1]), axis=1)
        live = np.take_along_axis(live, order[:, :(k + 1) // 2], axis=1)
        t += rep * k
    acts[:, t:] = live[:, :1]
    return acts
