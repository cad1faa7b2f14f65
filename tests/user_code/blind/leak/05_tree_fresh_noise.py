"""A greedy bandit on a dyadic tree whose leaves are blocks of eight rounds.

Node noise has scale L / eps with L levels, as it should if every node were noised once.

Flaw: noise is drawn at each query, and there is one query for each round. A reward of the first block is in one node per query for 32
rounds. Pair: all rewards 0, against reward 1 for arm 0 in round 0 (T = 40, L = 3). After blocks 1, 2 and 4 a query has a
single node for each arm, 24 queries in all; arm 1 has the larger value with chance 1/2, against e^(-1/3) (1 + 1/6) / 2 = 0.418.
The run with arm 1 in all of them has log-ratio at least 24 log(0.5 / 0.418) = 4.3. Already the event that arm 1 is played in
at least 21 of the last 32 rounds has one of about 2.2 (0.056 against 0.006).
"""

import numpy as np

EPSILON = 1.0
LEAF = 8


class PrefixTree:
    def __init__(self, n_leaves, rng):
        self.levels = max(1, int(n_leaves).bit_length())
        self.scale = self.levels / EPSILON
        self.leaves = []
        self.rng = rng

    def query(self):
        n, start, total = len(self.leaves), 0, 0.0
        for level in reversed(range(self.levels)):
            if (n >> level) & 1:
                width = 1 << level
                total += sum(self.leaves[start : start + width])
                total += self.rng.laplace(0, self.scale)
                start += width
        return total


def play(rewards, rng):
    T, K = rewards.shape
    trees = [PrefixTree(-(-T // LEAF), rng) for _ in range(K)]
    block = np.zeros(K)
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        a = t % K if t < LEAF else int(np.argmax([tree.query() for tree in trees]))
        actions[t] = a
        block[a] += rewards[t, a]
        if (t + 1) % LEAF == 0:
            for tree, x in zip(trees, block):
                tree.leaves.append(x)
            block = np.zeros(K)
    return actions
