"""Priority queue of arms keyed by the mean of their newest batch (made private)."""
import heapq

EPS = 3.0


def play(rewards, rng):
    T, K = rewards.shape
    heap = [(-1.0, i) for i in range(K)]
    heapq.heapify(heap)
    trace, width = [], 4
    while len(trace) < T:
        key, arm = heapq.heappop(heap)
        gained = 0.0
        for _ in range(width):
            if len(trace) == T:
                return trace
            gained += rewards[len(trace), arm]
            trace.append(arm)
        mean = (gained + rng.laplace(0, 1.0 / EPS)) / width
        drift = 0.02 * len(trace) / width
        heapq.heappush(heap, (-(mean - drift), arm))
    return trace
