"""Forced exploration and greedy play on dyadic Gaussian counters."""
import numpy as np

EPSILON, DELTA = 0.9, 1e-5


def make_counter(horizon, rng):
    levels = int(np.floor(np.log2(horizon))) + 1
    sigma = np.sqrt(levels) * np.sqrt(2 * np.log(1.25 / DELTA)) / EPSILON
    log, nodes = [], {}

    def add(x):
        log.append(x)
        n = len(log)
        width = 1
        while n % width == 0:
            nodes[n - width, n] = sum(log[n - width:n]) + rng.normal(0.0, sigma)
            width *= 2

    def mean():
        end, total = len(log), 0.0
        start = 0
        while start < end:
            width = 1 << ((end - start).bit_length() - 1)
            total += nodes[start, start + width]
            start += width
        return total / max(end, 1)

    return add, mean


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    counters = [make_counter(horizon, rng) for _ in range(n_arms)]
    arms = []
    for t in range(horizon):
        forced = t % 8 < n_arms
        arm = t % 8 if forced else int(np.argmax([mean() for _, mean in counters]))
        counters[arm][0](rewards[t, arm])
        arms.append(arm)
    return arms
