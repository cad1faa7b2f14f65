"""Aspiration play on rewards reported through the piecewise mechanism."""
import math
from typing import NamedTuple

EPSILON = 1.0


class Piece(NamedTuple):
    left: float
    right: float
    bound: float

    @classmethod
    def around(cls, x, z):
        c = (z + 1) / (z - 1)
        left = (c + 1) / 2 * x - (c - 1) / 2
        return cls(left, left + c - 1, c)


def report(x, rng):
    z = math.exp(EPSILON)
    piece = Piece.around(x, z)
    if rng.random() < z / (z + 1):
        return rng.uniform(piece.left, piece.right)
    width_left = piece.left + piece.bound
    u = rng.uniform(0.0, piece.bound + 1)
    return u - piece.bound if u < width_left else piece.right + u - width_left


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arms, arm = [], 0
    for t in range(horizon):
        arms.append(arm)
        heard = report(2 * float(rewards[t, arm]) - 1, rng)
        if heard < 1.0:  # below the aspiration level
            arm = (arm + 1) % n_arms
    return arms
