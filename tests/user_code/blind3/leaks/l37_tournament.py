"""A tournament: every pair of arms meets once, in a private comparison. Most wins get the rest."""

from itertools import combinations


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    totals, wins = [0.0] * k, [0] * k
    actions = [t % k for t in range(2 * k)]
    for t, arm in enumerate(actions):
        totals[arm] += rewards[t, arm]
    for a, b in combinations(range(k), 2):
        ahead = totals[a] - totals[b] + rng.laplace(0, 1 / epsilon) > 0
        wins[a if ahead else b] += 1
    return actions + [wins.index(max(wins))] * (horizon - 2 * k)
