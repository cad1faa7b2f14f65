"""Arms wait in a heap; the arm on top is pulled for a batch and pushed back with a new optimistic key.

Private because a batch is summed from zero, published once as sum + Laplace(1 / EPSILON) (drawn by inverting the
distribution function of a uniform number) and then forgotten: a changed reward moves one published sum by at most 1 and
costs EPSILON there.  Batch sizes double with the number of batches of the arm, known from the actions.  The heap orders
published values only.
"""
import heapq
import math

EPSILON = 1.1


class HeapBatches:
    def __init__(self, n_arms, rng, first=2):
        self.rng = rng
        self.first = first
        # (negated key, tie-breaker, arm, batches done)
        self.heap = [(-math.inf, float(rng.random()), a, 0) for a in range(n_arms)]
        heapq.heapify(self.heap)
        self._open()

    def _open(self):
        _, _, self.arm, self.done = heapq.heappop(self.heap)
        self.size = min(self.first << self.done, 8)
        self.left = self.size
        self.acc = 0.0

    def _inverse_laplace(self):
        u = self.rng.random()
        while u == 0.0:
            u = self.rng.random()
        return math.log(2 * u) / EPSILON if u < 0.5 else -math.log(2 * (1 - u)) / EPSILON

    def select(self):
        return self.arm

    def update(self, arm, reward):
        self.acc += float(reward)
        self.left -= 1
        if self.left == 0:
            mean = (self.acc + self._inverse_laplace()) / self.size
            key = mean + 1.0 / math.sqrt(self.size)
            heapq.heappush(self.heap, (-key, float(self.rng.random()), arm, self.done + 1))
            self._open()
