"""Off-policy estimates: rewards are clipped to [0, 1], weighted by 1 / propensity, summed, and noised with Laplace(1 / eps).

Flaw: after weighting, one reward of the rarely played arm moves its sum by 1 / 0.2 = 5 (for K = 2), so the release costs 5 eps. Pair:
all rewards 0, against reward 1 for arm 1 in round 0. Event: arm 1 in round 0 and arm 0 committed. Arm 1 has chance 0.2 in
both. Given that, arm 0 wins with chance 1/2, against e^-5 (1 + 5/2) / 2 = 0.0118. log-ratio 3.75.
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    logging = np.full(K, 0.2 / max(K - 1, 1))
    logging[0] = 0.8
    explore = T // 4
    estimate = np.zeros(K)
    actions = np.zeros(T, dtype=int)
    for t in range(explore):
        a = rng.choice(K, p=logging)
        actions[t] = a
        estimate[a] += min(max(rewards[t, a], 0.0), 1.0) / logging[a]
    actions[explore:] = np.argmax(estimate + rng.laplace(0, 1 / EPSILON, K))
    return actions
