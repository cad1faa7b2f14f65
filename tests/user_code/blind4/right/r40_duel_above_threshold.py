"""Duels between two arms that end when a noisy lead crosses a noisy threshold."""
import numpy as np

EPS = 2.0
LEAD = 4.0


def duel(a, b, acts, rewards, rng):
    """Alternate a and b until AboveThreshold fires; returns the winner."""
    T = len(rewards)
    bar = LEAD + rng.laplace(0, 2 / EPS)
    gap = 0.0
    while len(acts) + 2 <= T:
        gap += rewards[len(acts), a]
        acts.append(a)
        gap -= rewards[len(acts), b]
        acts.append(b)
        if gap + rng.laplace(0, 4 / EPS) > bar:
            return a
        if -gap + rng.laplace(0, 4 / EPS) > bar:
            return b
    return a


def play(rewards, rng):
    T, K = rewards.shape
    order = [int(i) for i in rng.permutation(K)]
    acts = []
    champion = order[0]
    for challenger in order[1:]:
        champion = duel(champion, challenger, acts, rewards, rng)
    acts += [champion] * (T - len(acts))
    return acts
