"""Win-stay, lose-shift on blocks of three rounds.

After a block the verdict "good" (block sum at least half) is answered by randomised response: the truth with
probability e^EPSILON / (1 + e^EPSILON), the opposite otherwise.  Two tables that differ in one reward give, for the same
past, the same verdicts except perhaps one, whose answer probabilities differ by at most the factor e^EPSILON.
Actions are a function of the answers.  (The bound is met when the reward tips its block.)
"""
import math

import numpy as np

EPSILON = 0.7
BLOCK = 3
TRUTH = math.exp(EPSILON) / (1.0 + math.exp(EPSILON))


def walker(n_arms, rng):
    arm = int(rng.integers(n_arms))
    while True:
        total = 0.0
        for _ in range(BLOCK):
            total += yield arm
        good = total >= BLOCK / 2
        answer = good if rng.random() < TRUTH else not good
        if not answer:
            arm = (arm + 1) % n_arms


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    w = walker(n_arms, rng)
    arm = next(w)
    actions = []
    for row in rewards:
        actions.append(arm)
        arm = w.send(float(row[arm]))
    return np.array(actions, dtype=int)
