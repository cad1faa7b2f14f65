"""Thresholding bandit: every arm is screened against a fixed bar, then the accepted arms take turns.

Claims epsilon = 1, pure. Screening pulls come in a random balanced order. Arm a is accepted when
(its screening sum) + Logistic(1/epsilon) exceeds the bar; a reward enters the test of one arm only and a logistic density
changes by at most e^epsilon for a shift of one. Vectorised over runs.
"""
import numpy as np

N_ARMS, HORIZON, EPSILON, PER_ARM, BAR = 5, 50, 1.0, 4, 2.4


def balanced_schedule(n_runs, rng):
    base = np.tile(np.repeat(np.arange(N_ARMS), PER_ARM), (n_runs, 1))
    return rng.permuted(base, axis=1)


def screening_sums(rewards, schedule):
    rounds = np.arange(schedule.shape[1])
    seen = rewards[rounds[None, :], schedule]                 # only the arms that were played
    onehot = schedule[:, :, None] == np.arange(N_ARMS)
    return np.einsum("rt,rtk->rk", seen, onehot.astype(float))


def rota(accepted, length):
    """Cyclic order over the accepted arms (over all arms if none is accepted)."""
    accepted = np.where(accepted.any(axis=1, keepdims=True), accepted, True)
    first = np.argsort(~accepted, axis=1, kind="stable")
    turn = np.arange(length)[None, :] % accepted.sum(axis=1, keepdims=True)
    return np.take_along_axis(first, turn, axis=1)


def play_many(rewards, n_runs, rng):
    rewards = np.asarray(rewards, dtype=float)
    schedule = balanced_schedule(n_runs, rng)
    noisy = screening_sums(rewards, schedule) + rng.logistic(0.0, 1.0 / EPSILON, (n_runs, N_ARMS))
    return np.concatenate([schedule, rota(noisy > BAR, HORIZON - schedule.shape[1])], axis=1)
