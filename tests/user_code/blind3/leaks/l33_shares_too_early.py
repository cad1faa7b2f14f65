"""Every reading carries a gamma share of Laplace noise; the better noisy total is played."""


def play(rewards, rng, epsilon=1.0, n=8):
    horizon, k = rewards.shape
    totals = [0.0] * k
    actions = []
    for t in range(horizon):
        arm = t if t < k else totals.index(max(totals))
        noise = rng.gamma(1 / n, 1 / epsilon) - rng.gamma(1 / n, 1 / epsilon)
        totals[arm] += rewards[t, arm] + noise
        actions.append(arm)
    return actions
