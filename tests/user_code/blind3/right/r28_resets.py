"""Restart every fifteen rounds.

A segment explores nine rounds and commits for six. Nothing passes from one segment to the next. Noise is the difference of two
exponentials of mean 1/epsilon, which is Laplace of that scale.
"""


def segment(rewards, rng, epsilon):
    k = rewards.shape[1]
    totals = [0.0] * k
    arms = list(range(k)) * 3
    for t, a in enumerate(arms):
        totals[a] += rewards[t, a]
    noisy = [x + rng.exponential(1 / epsilon) - rng.exponential(1 / epsilon) for x in totals]
    return arms + [noisy.index(max(noisy))] * (len(rewards) - len(arms))


def play(rewards, rng, epsilon=1.5):
    out = []
    for start in range(0, len(rewards), 15):
        out.extend(segment(rewards[start:start + 15], rng, epsilon))
    return out
