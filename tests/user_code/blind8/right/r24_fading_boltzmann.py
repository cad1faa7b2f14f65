"""Boltzmann exploration over fading scores; the softmax draw is the only noise.

Claim: EPSILON.  Fix a sequence of actions.  Along it, two tables that differ in one reward (round t) give scores that
differ only for the arm pulled at t, by at most FADE^(k-1) at round t + k.  A softmax with inverse temperature ETA whose
single exponent moves by d changes every probability by a factor of at most e^(ETA d) (the normaliser moves the same
way as the numerator).  Multiplying over k = 1, 2, ... gives ETA / (1 - FADE) = EPSILON.
"""
import numpy as np

EPSILON = 3.0
FADE = 0.8
ETA = EPSILON * (1.0 - FADE)


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    rows = np.arange(n_runs)
    score = np.zeros((n_runs, n_arms))
    out = np.zeros((n_runs, horizon), dtype=np.int64)
    for t in range(horizon):
        # Gumbel-max draw from the softmax
        arm = (ETA * score + rng.gumbel(size=score.shape)).argmax(axis=1)
        out[:, t] = arm
        score *= FADE
        score[rows, arm] += rewards[t, arm]
    return out
