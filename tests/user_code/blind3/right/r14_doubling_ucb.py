"""UCB with episodes that double, each mean from its own episode.

When an arm is chosen it is played 2^j times and its mean is that of this episode alone, with noise 1/(n epsilon). A reward is in
one released mean; the last, cut episode is never released.
"""

import math


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    size, index = [1] * k, [math.inf] * k
    actions = []
    while len(actions) < horizon:
        arm = index.index(max(index))
        n = size[arm]
        got = 0.0
        for _ in range(min(n, horizon - len(actions))):
            got += rewards[len(actions), arm]
            actions.append(arm)
        if len(actions) == horizon:
            break
        mean = got / n + rng.laplace(scale=1 / (n * epsilon))
        index[arm] = mean + math.sqrt(math.log(horizon) / (2 * n)) + 1 / (n * epsilon)
        size[arm] = 2 * n
    return actions
