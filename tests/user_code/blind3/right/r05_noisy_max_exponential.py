"""Report noisy max with exponential noise.

Each arm is tried three times. Totals have sensitivity 1, and noisy max with exponential noise of scale 2/epsilon is
epsilon-DP (it is permute-and-flip). The arm is the only thing that is used of them.
"""


def play(rewards, rng, epsilon=1.5):
    horizon, k = rewards.shape
    order = [a for a in range(k) for _ in range(3)]
    total = [0.0] * k
    for t, arm in enumerate(order):
        total[arm] += float(rewards[t, arm])
    best, best_value = None, float("-inf")
    for arm in range(k):
        value = total[arm] + rng.exponential(2 / epsilon)
        if value > best_value:
            best, best_value = arm, value
    return order + [best] * (horizon - len(order))
