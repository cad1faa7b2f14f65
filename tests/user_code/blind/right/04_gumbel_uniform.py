"""Duels: probe each arm once, then play the winner of a private duel for a few rounds.

Privacy. A duel sees one reward of each arm. -log(-log U) with U uniform is a standard Gumbel variable, so
the winner is drawn with probability proportional to exp(epsilon * r_a). A change of one reward by at
most 1 multiplies one weight by at most e^epsilon and the normaliser by a factor between 1 and that, so
the log-probability of each outcome moves by at most epsilon. Each reward is in one duel or in none.
"""

import numpy as np

EPSILON = 1.0
FOLLOW = 3


def standard_gumbel(n, rng):
    u = 1.0 - rng.random(n)  # in (0, 1]
    u = np.minimum(u, 1.0 - 1e-16)
    return -np.log(-np.log(u))


def play(rewards, rng):
    T, K = rewards.shape
    actions = []
    while len(actions) < T:
        seen = np.zeros(K)
        for a in range(K):
            if len(actions) == T:
                break
            seen[a] = rewards[len(actions), a]
            actions.append(a)
        winner = int(np.argmax(EPSILON * seen + standard_gumbel(K, rng)))
        actions += [winner] * min(FOLLOW, T - len(actions))
    return np.asarray(actions, dtype=int)
