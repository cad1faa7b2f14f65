"""Follow the perturbed leader, many runs in parallel.

Scores are gains over the benchmark 1/2; Laplace noise of scale 1/EPS hides any
single reward in the scores (sensitivity 1).  Claim: EPS = 1.0, pure.
"""
import numpy as np

EPS = 1.0
BENCHMARK = 0.5


def perturbation(n_runs, k, rng):
    u = rng.random((n_runs, k)) - 0.5
    return -np.sign(u) * np.log1p(-2 * np.abs(u)) / EPS


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    runs = np.arange(n_runs)
    score = np.zeros((n_runs, k))
    noise = perturbation(n_runs, k, rng)
    history = np.zeros((n_runs, horizon), dtype=np.int64)
    for t in range(horizon):
        leader = np.argmax(score + noise, axis=1)
        history[:, t] = leader
        score[runs, leader] += rewards[t, leader] - BENCHMARK
    return history
