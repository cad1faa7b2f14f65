"""Response-adaptive trial with permuted blocks and a geometric-noise response table.

Outcomes in [0, 1] become responder bits by randomised rounding.  After each block the data manager
releases responders per arm plus two-sided geometric noise with ratio exp(-eps) and forgets
the block.  The next block's slots are shared out by the released (cumulative) rates and
then permuted.  Claim: epsilon-DP (pure), 1.2 by default.
"""
import numpy as np


def two_sided_geometric(ratio, size, rng):
    """P(k) proportional to ratio ** |k|, as a difference of two geometrics."""
    return rng.geometric(1 - ratio, size) - rng.geometric(1 - ratio, size)


class AdaptiveAllocation:
    BLOCK = 12

    def __init__(self, n_arms=3, horizon=48, epsilon=1.2, rng=None):
        self.rng = np.random.default_rng() if rng is None else rng
        self.ratio = float(np.exp(-epsilon))
        self.table = np.zeros(n_arms, dtype=[("released", int), ("enrolled", int)])
        self.block_bits = np.zeros(n_arms, dtype=int)
        self.block_n = np.zeros(n_arms, dtype=int)
        self.slots = []
        self._open_block(np.full(n_arms, 1.0 / n_arms))

    def _open_block(self, share):
        k = len(share)
        quota = np.ones(k, dtype=int)                           # everyone keeps one slot
        want = share * (self.BLOCK - k)
        quota += np.floor(want).astype(int)
        order = np.argsort(-(want - np.floor(want)), kind="stable")
        quota[order[: self.BLOCK - quota.sum()]] += 1
        self.slots = list(self.rng.permutation(np.repeat(np.arange(k), quota)))

    def _close_block(self):
        noise = two_sided_geometric(self.ratio, len(self.table), self.rng)
        self.table["released"] += self.block_bits + noise
        self.table["enrolled"] += self.block_n
        self.block_bits[:] = 0
        self.block_n[:] = 0
        rate = np.clip(self.table["released"] / self.table["enrolled"], 0.0, 1.0)
        weight = (rate + 0.02) ** 3
        self._open_block(weight / weight.sum())

    def assign(self):
        return int(self.slots[-1])

    def record(self, arm, outcome):
        self.slots.pop()
        self.block_bits[arm] += int(self.rng.random() < outcome)
        self.block_n[arm] += 1
        if not self.slots:
            self._close_block()
