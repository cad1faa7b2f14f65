"""UCB1 on randomised responses.

A reward becomes a coin of that chance, the coin is told truly with chance e^eps/(1+e^eps). The chance of a report of 1 stays
within [1, e^eps]/(1+e^eps) for every reward in [0, 1]: each report is epsilon-DP, and every reward makes one report.
"""

import math
import random


def play(rewards, rng, epsilon=1.0):
    coins = random.Random(int(rng.integers(2**62)))
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    horizon, k = len(rewards), len(rewards[0])
    ones, pulls, actions = [0] * k, [0] * k, []
    for t in range(horizon):
        if t < k:
            arm = t
        else:
            arm = max(
                range(k),
                key=lambda a: ((ones[a] / pulls[a]) - (1 - truth)) / (2 * truth - 1)
                + math.sqrt(math.log(t) / (2 * pulls[a])),
            )
        bit = coins.random() < rewards[t][arm]
        report = bit if coins.random() < truth else not bit
        ones[arm] += report
        pulls[arm] += 1
        actions.append(arm)
    return actions
