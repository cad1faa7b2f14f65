"""Knock-out tournament of four arms, vectorised over runs.

A duel pulls both arms T // 8 times in alternation and compares the difference of
their two sums, plus Laplace(1/epsilon), with zero.  Semi-finals 0-1 and 2-3, then
the final with fresh pulls only; the champion gets the remaining rounds.  Every
reward enters one difference, with weight one.  Claims epsilon = 1.0 (pure).
"""
import numpy as np

EPSILON = 1.0


def duel(rewards, actions, start, pulls, left, right, rng):
    """Plays a duel from round `start`; returns the winners and the next round."""
    diff = np.zeros(len(left))
    for i in range(pulls):
        for side, sign in ((left, 1.0), (right, -1.0)):
            actions[:, start] = side
            diff += sign * rewards[start, side]
            start += 1
    diff += rng.laplace(scale=1.0 / EPSILON, size=len(left))
    return np.where(diff > 0, left, right), start


def play_many(rewards, n_runs, rng):
    T, K = rewards.shape
    assert K == 4
    pulls = T // 8
    actions = np.zeros((n_runs, T), dtype=int)
    seeded = [np.full(n_runs, a) for a in range(4)]
    t = 0
    first, t = duel(rewards, actions, t, pulls, seeded[0], seeded[1], rng)
    second, t = duel(rewards, actions, t, pulls, seeded[2], seeded[3], rng)
    champion, t = duel(rewards, actions, t, pulls, first, second, rng)
    actions[:, t:] = champion[:, None]
    return actions
