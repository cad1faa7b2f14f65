"""Commit by noisy means; where these are too close to call, the better record wins."""


def play(rewards, rng, epsilon=0.5):
    horizon, n = len(rewards), 4
    total = [0.0, 0.0]
    actions = []
    for t in range(2 * n):
        total[t % 2] += rewards[t, t % 2]
        actions.append(t % 2)
    noisy = [(s + rng.laplace(0, 1 / epsilon)) / n for s in total]
    if abs(noisy[0] - noisy[1]) < 0.5:
        best = 0 if total[0] >= total[1] else 1
    else:
        best = 0 if noisy[0] > noisy[1] else 1
    return actions + [best] * (horizon - 2 * n)
