"""Stays with an arm while its dyadic running total keeps up with half a point a round."""
import numpy as np


class BinaryMechanism:
    """Running sum; every dyadic node gets its Laplace noise once."""

    def __init__(self, epsilon, rng):
        self.epsilon, self.rng = epsilon, rng
        self.values, self.nodes = [], {}

    def push(self, x):
        self.values.append(x)
        end, width = len(self.values), 1
        while end % width == 0:
            exact = sum(self.values[end - width:end])
            self.nodes[end - width, width] = exact + self.rng.laplace(0.0, 1.0 / self.epsilon)
            width *= 2

    def sum(self):
        position, total, end = 0, 0.0, len(self.values)
        while position < end:
            width = 1 << ((end - position).bit_length() - 1)
            total += self.nodes[position, width]
            position += width
        return total


class DyadicStay:
    def __init__(self, n_arms=2, horizon=96, epsilon=1.0, rng=None):
        self.rng = rng or np.random.default_rng()
        self.streams = [BinaryMechanism(epsilon, self.rng) for _ in range(n_arms)]
        self.arm = 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        stream = self.streams[arm]
        stream.push(reward)
        if stream.sum() < 0.5 * len(stream.values):
            self.arm = (arm + 1) % len(self.streams)
