"""EXP3 in the local model: each observed reward is masked with Laplace(1/eps) at once.

K = 4, T = 40, claimed epsilon = 2.0 (pure).  Vectorised over runs; weights are kept as logs and
the arm is drawn by inverse transform from the mixture with uniform exploration.
"""
import numpy as np

K, T = 4, 40
EPSILON = 2.0
GAMMA = 0.05
ETA = 0.35


def softmax(z):
    z = z - z.max(axis=1, keepdims=True)
    w = np.exp(z)
    return w / w.sum(axis=1, keepdims=True)


def mask(x, rng):
    """Laplace noise as a difference of two exponentials."""
    e = rng.exponential(1.0 / EPSILON, size=(2,) + x.shape)
    return x + e[0] - e[1]


def play_many(rewards, n_runs, rng):
    log_w = np.zeros((n_runs, K))
    runs = np.arange(n_runs)
    history = np.empty((T, n_runs), dtype=int)
    for t in range(T):
        p = (1.0 - GAMMA) * softmax(log_w) + GAMMA / K
        u = rng.random(n_runs)[:, None]
        arm = np.minimum((u > np.cumsum(p, axis=1)).sum(axis=1), K - 1)
        masked = mask(rewards[t][arm], rng)
        # centred importance weighted estimate, clipped so that one round cannot take over
        gain = np.clip((masked - 0.5) / p[runs, arm], -6.0, 6.0)
        log_w[runs, arm] += ETA * gain
        history[t] = arm
    return history.T
