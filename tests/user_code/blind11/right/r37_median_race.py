"""Race between trading venues by private block medians of the fill quality.

Claim: EPSILON-DP for the action sequence, one reward in [0, 1] changed.
Proof. A reward sits in the sorted block of its venue until the block is full; then one median is drawn
and the block is thrown away, so it takes part in one draw only.  The score of a grid point g is
-|#{x < g} - BLOCK / 2|; replacing one entry moves #{x < g} by at most 1, some scores up and others down.
The draw has weights exp(EPSILON * score / 2): weight and normaliser each move by at most
exp(EPSILON / 2), together exp(EPSILON).  When a block ends depends on the actions only.
"""
from bisect import bisect_left, insort
from math import exp, log, sqrt

EPSILON = 1.5
BLOCK = 3
GRID = [i / 10 for i in range(11)]


class MedianRace:
    def __init__(self, n_arms, rng):
        self.rng = rng
        self.block = []
        self.current = 0
        self.medians = [[] for _ in range(n_arms)]

    def _draw_median(self):
        weights = [exp(-EPSILON / 2 * abs(bisect_left(self.block, g) - BLOCK / 2)) for g in GRID]
        mass = sum(weights)
        return float(self.rng.choice(GRID, p=[w / mass for w in weights]))

    def _next_venue(self):
        for venue, seen in enumerate(self.medians):
            if not seen:
                return venue
        done = sum(map(len, self.medians))

        def outlook(venue):
            seen = self.medians[venue]
            return sum(seen) / len(seen) + 0.4 * sqrt(log(1 + done) / len(seen))

        return max(range(len(self.medians)), key=outlook)

    def select(self):
        return self.current

    def update(self, arm, reward):
        insort(self.block, float(reward))
        if len(self.block) < BLOCK:
            return
        self.medians[arm].append(self._draw_median())
        self.block.clear()
        self.current = self._next_venue()
