"""Sums are held by four servers; every server adds its share of Laplace noise, and shares are centred "to keep the sum unbiased".

Flaw: centring makes the noise shares add up to zero, so the opened sum is exact. Pair (K = 2): arm 1 earns 1/2 in round 1 and arm 0 earns 0 in round 0, against 1;
all else 0. The leader of the next block is arm 1 for certain, against arm 0 for certain. Infinite.
"""

import numpy as np

EPSILON = 1.0
SERVERS = 4


def open_sum(values, rng):
    masks = rng.normal(0, 10, (SERVERS, len(values)))
    masks -= masks.mean(axis=0)
    noise = rng.laplace(0, 1 / EPSILON, SERVERS)
    noise -= noise.mean()
    shares = [masks[s].sum() + noise[s] + (sum(values) if s == 0 else 0.0) for s in range(SERVERS)]
    return round(sum(shares), 6)


def play(rewards, rng):
    T, K = rewards.shape
    block = 5 * K
    opened = np.zeros(K)
    actions = []
    held = [[] for _ in range(K)]
    for t in range(T):
        if t and t % block == 0:
            opened = opened + [open_sum(v, rng) if v else 0.0 for v in held]
            held = [[] for _ in range(K)]
        a = t % K if t < block or t % 3 == 0 else int(np.argmax(opened))
        actions.append(a)
        held[a].append(rewards[t, a])
    return np.array(actions)
