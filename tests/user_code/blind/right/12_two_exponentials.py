"""Two-armed comparison: noise goes on the difference of the sums.

For more than two arms the champion meets the next challenger on fresh rounds.

Privacy. In a match both arms are pulled n times and D = (sum of the challenger) - (sum of the champion). One
reward changes D by at most 1. The difference of two independent exponentials of scale 1 / eps is Laplace
of scale 1 / eps, so D + noise is eps-DP, and its sign is what the rest of the run sees. Matches use
disjoint rounds.
"""

import numpy as np

EPSILON = 1.0


def noise(rng):
    return rng.exponential(1.0 / EPSILON) - rng.exponential(1.0 / EPSILON)


def play(rewards, rng):
    T, K = rewards.shape
    arms = []
    champion, challenger = 0, 1 % K
    per_match = max(1, T // (4 * max(K - 1, 1)))

    def pull(a):
        t = len(arms)
        arms.append(a)
        return rewards[t, a]

    while len(arms) < T:
        if challenger < K and len(arms) + 2 * per_match <= T:
            lead = 0.0
            for _ in range(per_match):
                lead -= pull(champion)
                lead += pull(challenger)
            if lead + noise(rng) > 0:
                champion = challenger
            challenger += 1
        else:
            arms.append(champion)
    return np.array(arms, dtype=int)
