"""Drop the first arm at the first check where its noisy test says that it fell behind.

The bar is noised once, so however many checks are made, the cost is that of one.
"""


def play(rewards, rng, epsilon=1.0, bar=1.0):
    horizon = len(rewards)
    noisy_bar = bar + rng.laplace(0, 1 / epsilon)
    behind = 0.0
    actions = []
    for t in range(horizon):
        arm = t % 2
        actions.append(arm)
        behind += rewards[t, arm] * (1 if arm else -1)
        if arm and behind > noisy_bar:
            return actions + [1] * (horizon - len(actions))
    return actions
