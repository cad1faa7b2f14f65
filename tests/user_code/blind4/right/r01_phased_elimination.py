"""Successive elimination in phases; every phase uses its own fresh rewards."""
import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    alive = list(range(K))
    chosen = []
    phase = 0
    fallback = 0
    while len(chosen) < T and len(alive) > 1:
        m = 3 * 2 ** phase
        if len(chosen) + m * len(alive) > T:
            break
        means = {}
        for a in alive:
            s = 0.0
            for _ in range(m):
                s += rewards[len(chosen), a]
                chosen.append(a)
            means[a] = (s + rng.laplace(0.0, 1.0 / EPSILON)) / m
        top = max(means.values())
        width = np.sqrt(np.log(4 * K) / (2 * m)) + np.log(4 * K) / (EPSILON * m)
        fallback = max(means, key=means.get)
        alive = [a for a in alive if means[a] >= top - width]
        phase += 1
    last = alive[0] if len(alive) == 1 else fallback
    chosen.extend([last] * (T - len(chosen)))
    return chosen
