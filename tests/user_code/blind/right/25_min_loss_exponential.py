"""Picks the arm of least noisy loss, where noise is one-sided exponential.

Privacy. The loss of a reward is 1 - r. The winner is argmin_a (L_a - E_a) with E_a exponential of scale 1 / eps, and
only the winner is used. If one L_j falls by d in [0, 1], others fixed: j wins iff E_j exceeds some threshold
that falls by d, so its chance grows by a factor in [1, e^(eps d)], as P(E > x) = min(1, e^(-eps x)). Another arm i
loses by this, but P(E_i > x + d) >= e^(-eps d) P(E_i > x) for every x, so its chance falls by at most e^(eps d).
Losses are those of the latest tournament only.
"""

import numpy as np

EPSILON = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    tournament = 3 * K
    rest = tournament
    actions = np.zeros(T, dtype=int)
    t, winner = 0, 0
    while t < T:
        losses = np.zeros(K)
        for a in rng.permutation(np.arange(tournament) % K):
            if t >= T:
                break
            actions[t] = a
            losses[a] += 1.0 - rewards[t, a]
            t += 1
        winner = int(np.argmin(losses - rng.exponential(1 / EPSILON, K)))
        for _ in range(rest):
            if t < T:
                actions[t] = winner
                t += 1
    return actions
