"""Knockout tournament between arms."""
import math

import numpy as np

EPSILON = 1.0
GAMES = 8


def match(a, b, start, rewards, log, rng):
    diff = 0.0
    for g in range(GAMES):
        for arm, sign in ((a, 1), (b, -1)):
            t = len(log)
            log.append(arm)
            diff += sign * rewards[t, arm]
    return a if rng.random() < 1 / (1 + math.exp(-EPSILON * diff)) else b


def bracket(arms, rewards, log, rng):
    if len(arms) == 1:
        return arms[0]
    half = len(arms) // 2
    left = bracket(arms[:half], rewards, log, rng)
    right = bracket(arms[half:], rewards, log, rng)
    return match(left, right, len(log), rewards, log, rng)


def play(rewards, rng):
    T, K = rewards.shape
    log = []
    champion = bracket(list(range(K)), rewards, log, rng)
    log += [champion] * (T - len(log))
    return np.asarray(log[:T])
