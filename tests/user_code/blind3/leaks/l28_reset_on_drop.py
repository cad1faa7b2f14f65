"""Explore and commit that starts anew when the committed arm fails three times in a row."""


def play(rewards, rng, epsilon=1.0):
    horizon = len(rewards)
    actions = []

    def pull(arm):
        t = len(actions)
        actions.append(arm)
        return rewards[t, arm]

    while len(actions) < horizon:
        totals = [0.0, 0.0]
        for i in range(min(6, horizon - len(actions))):
            totals[i % 2] += pull(i % 2)
        noisy = [s + rng.laplace(0, 1 / epsilon) for s in totals]
        best = noisy.index(max(noisy))
        misses = 0
        while misses < 3 and len(actions) < horizon:
            misses = misses + 1 if pull(best) < 0.5 else 0
    return actions
