"""Sequential halving on integer tenths with noise from loops of biased coins."""
import math

import numpy as np


class HalvingCoins:
    TENTHS = 10

    def __init__(self, n_arms=4, horizon=88, epsilon=2.0, rng=None):
        self.rng = rng if rng is not None else np.random.default_rng()
        self.stay = math.exp(-epsilon / self.TENTHS)
        self.alive = list(range(n_arms))
        self.per_round = horizon // (2 * max(1, math.ceil(math.log2(n_arms))))
        self._deal()

    def _deal(self):
        each = max(1, self.per_round // len(self.alive))
        self.cards = [a for a in self.alive for _ in range(each)]
        self.points = dict.fromkeys(self.alive, 0)

    def _coins(self):
        count = 0
        while self.rng.random() < self.stay:
            count += 1
        return count

    def select(self):
        return self.cards[-1] if self.cards else self.alive[0]

    def update(self, arm, reward):
        if not self.cards:
            return
        self.cards.pop()
        self.points[arm] += int(round(self.TENTHS * float(reward)))
        if self.cards:
            return
        noisy = {a: p + self._coins() - self._coins() for a, p in self.points.items()}
        ranked = sorted(self.alive, key=lambda a: -noisy[a])
        self.alive = ranked[: max(1, len(ranked) // 2)]
        if len(self.alive) > 1:
            self._deal()
