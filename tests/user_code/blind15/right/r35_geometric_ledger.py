"""Integer ledgers with two-sided geometric noise; K = 3, T = 60, claimed epsilon = 0.8 (pure).

Every reward is rounded at random to a coin (1 with probability r).  An arm owns a ledger whose
pages hold 2, 4, 8, ... coins; when a page is full its coin count is published with two-sided
geometric noise of parameter exp(-epsilon) and the page is thrown away.  Arms wait in a heap,
keyed by minus an optimistic index made of the published counts.
"""
import heapq
import math

import numpy as np

K, T, EPS = 3, 60, 0.8


def two_sided_geometric(rng):
    p = 1.0 - math.exp(-EPS)
    return int(rng.geometric(p)) - int(rng.geometric(p))


class Ledger:
    def __init__(self):
        self.published, self.coins, self.pages = 0, 0, 0

    def page_size(self):
        return 2 ** (self.pages + 1)

    def settle(self, count, rng):
        self.published += count + two_sided_geometric(rng)
        self.coins += self.page_size()
        self.pages += 1

    def index(self):
        if not self.pages:
            return 2.0
        bonus = math.sqrt(math.log(T) / (2 * self.coins)) + 0.5 * math.sqrt(self.pages) / (EPS * self.coins)
        return self.published / self.coins + bonus


def play(rewards, rng):
    ledgers = [Ledger() for _ in range(K)]
    heap = [(-book.index(), a) for a, book in enumerate(ledgers)]
    heapq.heapify(heap)
    path = []
    while len(path) < T:
        _, a = heapq.heappop(heap)
        size = ledgers[a].page_size()
        stop = min(T, len(path) + size)
        count = 0
        for t in range(len(path), stop):
            path.append(a)
            count += int(rng.random() < rewards[t, a])
        ledgers[a].settle(count, rng)
        heapq.heappush(heap, (-ledgers[a].index(), a))
    return np.asarray(path, dtype=int)
