"""Four stages on cumulative sums, a quarter of the budget each; Laplace noise as a difference of exponentials.

Flaw: rng.exponential takes the mean, here it gets the rate eps / 4, so that noise has scale 1/4 and not 4. Pair (K = 2): all rewards 0, against reward 1 for arm 0 in round
0. Each ranking puts arm 1 first with chance 1/2, against e^-4 (1 + 2) / 2 = 0.0275: 2.90 for the first ranking alone, 8.7 for the three visible ones.
"""

import numpy as np

EPSILON = 1.0
STAGES = 4


def play(rewards, rng):
    T, K = rewards.shape
    rate = EPSILON / STAGES
    cuts = [round(i * T / STAGES) for i in range(STAGES + 1)]
    totals = np.zeros(K)
    best, actions = None, []
    for lo, hi in zip(cuts, cuts[1:]):
        for t in range(lo, hi):
            arm = (t - lo) % K if best is None or t - lo < K else best
            actions.append(arm)
            totals[arm] += rewards[t, arm]
        best = int(np.argmax(totals + rng.exponential(rate, K) - rng.exponential(rate, K)))
    return np.array(actions)
