"""Trees whose leak spreads over all rounds: each round shows a little of one reward, and no round much.

EPSILON = 1 is claimed of both. Leader and challenger are played in turn, so that no count of pulls tells
anything. Both play many runs in a call.
"""

import numpy as np

EPSILON = 1.0


def nodes(t):
    """Blocks of 2^k rounds that make up the first t."""
    found, start = [], 0
    for level in range(t.bit_length() - 1, -1, -1):
        if t >> level & 1:
            found.append((start, start + (1 << level)))
            start += 1 << level
    return found


def duel(rewards, n_runs, rng, scale, fresh=False):
    """Actions; the lead of arm 0 is a sum of noisy nodes."""
    horizon, known = len(rewards), {}
    arms, gains = np.empty((n_runs, horizon), np.int64), np.zeros((n_runs, horizon))
    for t in range(horizon):
        lead = np.zeros(n_runs)
        for node in nodes(t):
            if fresh or node not in known:
                known[node] = gains[:, node[0] : node[1]].sum(axis=1) + rng.laplace(0, scale, n_runs)
            lead += known[node]
        arms[:, t] = (lead < 0) ^ (t % 2 == 1)
        gains[:, t] = np.where(arms[:, t] == 0, rewards[t, 0], -rewards[t, 1])
    return arms


def new_nodes(rewards, n_runs, rng):
    """Every sum draws the noise of its nodes anew."""
    return duel(rewards, n_runs, rng, 3 / EPSILON, fresh=True)


def right_tree(rewards, n_runs, rng):
    """Every node gets its noise once; a reward enters one node of each level."""
    return duel(rewards, n_runs, rng, len(rewards).bit_length() / EPSILON)
