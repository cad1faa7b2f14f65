"""Explore until the race is decided, then commit by permute-and-flip, epsilon = 1 (pure).

Exploration goes round robin for at most three quarters of the horizon.  The winner is
chosen by permute-and-flip on the reward sums (sensitivity one, one coordinate moves,
so acceptance exp(eps * (s - max s))) and played to the end.
"""
import math

import numpy as np

EPS = 1.0


def permute_and_flip(scores, rng):
    top = max(scores)
    for i in rng.permutation(len(scores)):
        if rng.random() < math.exp(EPS * (scores[i] - top)):
            return int(i)
    return int(np.argmax(scores))


def phases(n_arms, horizon):
    """State machine: send (arm, reward), receive the wanted move."""
    sums = [0.0] * n_arms
    laps = 0
    limit = 3 * horizon // (4 * n_arms)
    while True:
        for a in range(n_arms):
            r = yield ("pull", a)
            sums[a] += min(1.0, max(0.0, float(r)))
        laps += 1
        ahead, behind = sorted((s / laps for s in sums), reverse=True)[:2]
        decided = laps >= 4 and ahead - behind > 1.6 * math.sqrt(1.0 / laps)
        if decided or laps >= limit:
            break
    yield ("commit", sums)


def play(rewards, rng):
    T, K = rewards.shape
    machine = phases(K, T)
    move = next(machine)
    actions, winner = [], None
    for t in range(T):
        match move:
            case ("pull", arm):
                actions.append(arm)
                move = machine.send(rewards[t, arm])
            case ("commit", sums):
                if winner is None:
                    winner = permute_and_flip(sums, rng)
                actions.append(winner)
    return np.array(actions)
