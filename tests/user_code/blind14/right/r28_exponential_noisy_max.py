"""Which of five numbers in [0, 1] is the largest?  Report noisy max with one-sided exponential
noise; one draw, the index only.  Neighbours differ in one entry, so one score moves by
at most one and noise of mean 1/epsilon is enough.  Epsilon = 2 (pure).
"""
import heapq
import math

EPSILON = 2.0


def exponential(rng, mean):
    return -mean * math.log1p(-rng.random())


def release_one(data, rng):
    heap = []
    for i, score in enumerate(data):
        key = float(score) + exponential(rng, 1.0 / EPSILON)
        heapq.heappush(heap, (-key, rng.random(), i))
    return heapq.heappop(heap)[2]
