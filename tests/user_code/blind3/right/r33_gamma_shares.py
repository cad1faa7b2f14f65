"""Every reading carries a share of the noise.

Eight shares Gamma(1/8) - Gamma(1/8) of scale 1/epsilon add up to Laplace noise of scale 1/epsilon. Only the complete totals of
eight are looked at, of which one moves by at most 1.
"""


def share(n, epsilon, rng):
    return rng.gamma(1 / n, 1 / epsilon) - rng.gamma(1 / n, 1 / epsilon)


def play(rewards, rng, epsilon=1.0, n=8):
    horizon, k = rewards.shape
    bags = [[] for _ in range(k)]
    actions = []
    for t in range(n * k):
        arm = t % k
        bags[arm].append(rewards[t, arm] + share(n, epsilon, rng))
        actions.append(arm)
    totals = [sum(bag) for bag in bags]
    return actions + [totals.index(max(totals))] * (horizon - n * k)
