"""Lazy counters as closures.

A counter gives away what came in since its last release, with fresh noise of scale 1/epsilon, at its 1st, 2nd, 4th, 8th, ...
reward. Every reward is in one such difference. Sums of noisy differences are what the choice sees.
"""


def counter(rng, scale):
    waiting, published, n, seen = 0.0, 0.0, 0, 0

    def add(x):
        nonlocal waiting, published, n, seen
        waiting += x
        n += 1
        if n & (n - 1) == 0:
            published += waiting + rng.laplace(0, scale)
            waiting, seen = 0.0, n

    def mean():
        return published / seen if seen else float("inf")

    return add, mean


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    arms = [counter(rng, 1 / epsilon) for _ in range(k)]
    actions = []
    for t in range(horizon):
        if t % 5 == 0:
            arm = (t // 5) % k
        else:
            arm = max(range(k), key=lambda a: arms[a][1]())
        arms[arm][0](rewards[t, arm])
        actions.append(arm)
    return actions
