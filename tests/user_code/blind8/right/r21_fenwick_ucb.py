"""UCB whose per-arm totals come from a dyadic tree of noisy partial sums.

Why it is EPSILON-private: the i-th reward of an arm lies in at most one dyadic block of every size 1, 2, 4, 8, 16.
An arm has fewer than 32 rewards when its total is asked for, so a reward sits in at most LEVELS = 5 blocks.  Each block
sum is noised once (kept in `nodes`, never redrawn) with Laplace scale LEVELS / EPSILON; a changed reward moves every
such block by at most 1 and so costs EPSILON / LEVELS per block, EPSILON in all.  Which blocks are made depends on pull
counts only, that is on past actions.  sqrt(2 E) Z with E ~ Exp(1), Z ~ N(0, 1) has the Laplace(1) law.
"""
import math

import numpy as np

EPSILON = 2.0
LEVELS = 5


def laplace_as_mixture(rng, scale):
    return scale * math.sqrt(2.0 * rng.exponential()) * rng.standard_normal()


def prefix(values, n, nodes, rng, start=0):
    """Noisy sum of values[start:start + n], cutting off the largest power of two each time."""
    if n == 0:
        return 0.0
    size = 1 << (n.bit_length() - 1)
    key = (start, size)
    if key not in nodes:
        nodes[key] = sum(values[start:start + size]) + laplace_as_mixture(rng, LEVELS / EPSILON)
    return nodes[key] + prefix(values, n - size, nodes, rng, start + size)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    assert horizon <= 32
    seen = [[] for _ in range(n_arms)]
    trees = [{} for _ in range(n_arms)]
    totals = [0.0] * n_arms
    actions = np.empty(horizon, dtype=int)
    for t in range(horizon):
        if t < n_arms:
            arm = t
        else:
            def index(a):
                n = len(seen[a])
                return totals[a] / n + math.sqrt(math.log(t + 1) / n)
            arm = max(range(n_arms), key=index)
        actions[t] = arm
        seen[arm].append(float(rewards[t, arm]))
        if t + 1 < horizon:
            totals[arm] = prefix(seen[arm], len(seen[arm]), trees[arm], rng)
    return actions
