"""Explore/exploit blocks; the winner of a block is announced by K-ary randomised
response.

Each block tries all arms twice, finds the arm with the largest total in this
block, and passes its name through randomised response; the announced arm is
played for eight rounds whose rewards are not used.  Blocks share no data.
Claim: epsilon = 1.2.
"""
import math
from itertools import islice

import numpy as np

EPSILON = 1.2
TRIES = 2
EXPLOIT = 8


def randomised_response(value, k, rng):
    keep = math.exp(EPSILON) / (math.exp(EPSILON) + k - 1)
    if rng.random() < keep:
        return value
    other = int(rng.integers(k - 1))
    return other if other < value else other + 1


def policy(k, rng):
    """Generator: yields an arm, is sent the reward of that arm."""
    while True:
        totals = [0.0] * k
        for _ in range(TRIES):
            for arm in range(k):
                totals[arm] += yield arm
        winner = max(range(k), key=totals.__getitem__)
        announced = randomised_response(winner, k, rng)
        for _ in range(EXPLOIT):
            yield announced


def drive(agent, rewards):
    arm = next(agent)
    for row in rewards:
        yield arm
        arm = agent.send(float(row[arm]))


def play(rewards, rng):
    horizon, k = rewards.shape
    return np.fromiter(islice(drive(policy(k, rng), rewards), horizon), dtype=int, count=horizon)
