"""Switch to the newcomer when a noisy comparison says so: AboveThreshold.

Arms alternate; every four rounds the lead of arm 1 (sensitivity 1) is held against a noisy threshold. Threshold noise 2/epsilon,
query noise 4/epsilon, and the test ends at its first yes: epsilon. Later rewards are not looked at.
"""


def play(rewards, rng, epsilon=1.0, bar=1.5):
    horizon = len(rewards)
    threshold = bar + rng.laplace(0, 2 / epsilon)
    lead = 0.0
    actions = []
    for t in range(horizon):
        arm = t % 2
        lead += rewards[t, 1] if arm else -rewards[t, 0]
        actions.append(arm)
        if t % 4 == 3 and lead + rng.laplace(0, 4 / epsilon) >= threshold:
            return actions + [1] * (horizon - len(actions))
        if t >= 31:
            break
    return actions + [0] * (horizon - len(actions))
