"""Permute-and-flip after every epoch of exploration.

Right. Permute-and-flip with acceptance exp(EPSILON * (S_a - max S)) is report-noisy-max with exponential
noise of scale 1 / EPSILON. Only one score moves between neighbours, and by at most 1. If it is the
winner's, shifting its noise by 1 costs a factor e^EPSILON; if it is a loser's, shifting the winner's noise
does. Each epoch reads only its own rewards, and once.
"""

import math
import random

import numpy as np

EPSILON = 1.0


def permute_and_flip(scores, coin):
    order = list(range(len(scores)))
    coin.shuffle(order)
    top = max(scores)
    for arm in order:
        if coin.random() < math.exp(EPSILON * (scores[arm] - top)):
            return arm
    raise AssertionError("the best arm always accepts")


def play(rewards, rng):
    coin = random.Random(int(rng.integers(2**63)))
    horizon, n_arms = rewards.shape
    actions, length = [], 2
    while len(actions) < horizon:
        scores = [0.0] * n_arms
        for arm in [a for a in range(n_arms) for _ in range(length)]:
            if len(actions) == horizon:
                return np.array(actions)
            scores[arm] += rewards[len(actions), arm]
            actions.append(arm)
        winner = permute_and_flip(scores, coin)
        actions += [winner] * min(length * 2, horizon - len(actions))
        length *= 2
    return np.array(actions)
