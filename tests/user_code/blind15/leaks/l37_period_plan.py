"""Periodic re-planning from a log; K = 2, T = 48, claimed epsilon = 1.0 (pure).

Every twelve rounds the plan for the next twelve is made from the trials of the last period: noisy
sums per arm (Laplace(1/epsilon)), then the better arm gets two rounds and ten trial rounds
alternate.  Periods do not share rewards, so the budget is spent in parallel.
"""
import numpy as np

K, T, PERIOD, TRIALS = 2, 48, 12, 10
EPS = 1.0
LOG = np.dtype([("when", "i4"), ("arm", "i4"), ("trial", "?"), ("reward", "f8")])


def last_period(log, t):
    when = log["when"]
    return log[(when >= t - PERIOD - 1) & (when <= t - 1) & log["trial"]]


def noisy_means(entries, rng):
    sums = np.bincount(entries["arm"], weights=entries["reward"], minlength=K)
    return (sums + rng.laplace(0.0, 1.0 / EPS, size=K)) / (TRIALS // K)


def plan(favourite):
    return [(favourite, False)] * (PERIOD - TRIALS) + [(i % K, True) for i in range(TRIALS)]


def play(rewards, rng):
    log = np.zeros(T, dtype=LOG)
    todo = plan(int(rng.integers(K)))
    for t in range(T):
        if t and t % PERIOD == 0:
            todo = plan(int(noisy_means(last_period(log[:t], t), rng).argmax()))
        arm, trial = todo[t % PERIOD]
        log[t] = (t, arm, trial, rewards[t, arm])
    return log["arm"].astype(int)
