"""Sparse vector: a noisy bar, noisy checks against it, and a new bar after every yes, when the arm changes."""


def play(rewards, rng, epsilon=1.0, bar=1.0):
    horizon = len(rewards)
    lead = 0.0
    current = 0
    threshold = bar + rng.laplace(0, 1 / epsilon)
    actions = []
    for t in range(horizon):
        if t % 6 == 0 and t:
            if lead + rng.laplace(0, 1 / epsilon) > threshold:
                current = 1 - current
                threshold = bar + rng.laplace(0, 1 / epsilon)
        arm = current if t % 6 > 1 else t % 2
        if t < 6:
            lead += rewards[t, arm]
        actions.append(arm)
    return actions
