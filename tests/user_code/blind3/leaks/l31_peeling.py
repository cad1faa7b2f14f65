"""Keep two arms of four: draw one, take it out, draw the next. Both draws are epsilon-DP."""

import math


def softmax_draw(scores, epsilon, rng):
    arms = list(scores)
    weights = [math.exp(epsilon * scores[a]) for a in arms]
    u = rng.random() * sum(weights)
    for arm, w in zip(arms, weights):
        u -= w
        if u < 0:
            return arm
    return arms[-1]


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    scores = {a: 0.0 for a in range(k)}
    actions = [t % k for t in range(5 * k)]
    for t, a in enumerate(actions):
        scores[a] += rewards[t, a]
    kept = []
    for _ in range(2):
        arm = softmax_draw(scores, epsilon, rng)
        kept.append(arm)
        del scores[arm]
    kept.sort()
    return actions + [kept[t % 2] for t in range(horizon - len(actions))]
