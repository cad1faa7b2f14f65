"""Private channel hopping with a fault monitor; K = 4, T = 60, claimed epsilon = 1.0 (pure).

Cycles of twelve rounds: two probes per live channel, the rest on the channel with the best
noisy probe sum (Laplace(1/epsilon), probes of this cycle only).  A channel whose last six
readings were all blank is switched off for good.
"""
from collections import deque

import numpy as np

K, T, CYCLE, PROBES = 4, 60, 12, 2
EPS = 1.0
BLANK, MEMORY = 0.02, 6


class Channel:
    def __init__(self, number):
        self.number = number
        self.recent = deque(maxlen=MEMORY)
        self.probe_sum = 0.0

    def probe(self, value):
        self.recent.append(value)
        self.probe_sum += value

    def alive(self):
        return len(self.recent) < MEMORY or max(self.recent) > BLANK

    def bid(self, rng):
        noisy = self.probe_sum + rng.laplace(0.0, 1.0 / EPS)
        self.probe_sum = 0.0
        return noisy


def play(rewards, rng):
    channels = [Channel(i) for i in range(K)]
    log = []
    for start in range(0, T, CYCLE):
        live = [c for c in channels if c.alive()] or channels
        for _ in range(PROBES):
            for c in live:
                c.probe(rewards[len(log), c.number])
                log.append(c.number)
        bids = {c.number: c.bid(rng) for c in live}
        best = max(bids, key=bids.get)
        log.extend([best] * (start + CYCLE - len(log)))
    return np.array(log)
