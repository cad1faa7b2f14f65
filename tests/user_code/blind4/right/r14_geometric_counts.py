"""Phased successive rejects on click counts with two-sided geometric noise."""
import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    q = 1.0 - np.exp(-EPSILON)
    remaining = set(range(K))
    acts = []
    budget = T // K
    while len(remaining) > 1:
        m = max(1, budget // (len(remaining) + 1))
        tally = {}
        for arm in sorted(remaining):
            clicks = 0
            for _ in range(m):
                if len(acts) < T:
                    clicks += int(rng.random() < rewards[len(acts), arm])
                    acts.append(arm)
            tally[arm] = clicks + int(rng.geometric(q)) - int(rng.geometric(q))
        remaining.remove(min(tally, key=tally.get))
    (final,) = remaining
    return acts + [final] * (T - len(acts))
