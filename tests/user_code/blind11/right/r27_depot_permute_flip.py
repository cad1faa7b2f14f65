"""Choose a depot on the unit road that keeps total travel distance small (permute-and-flip).

Proof.  Score of site s: -sum_i |x_i - s|.  Replacing one customer in [0, 1] moves each score by at most 1, in either
direction.  Visiting sites in random order and accepting s with probability exp(EPSILON * (score_s - best) / 2)
is permute-and-flip with sensitivity 1, which is EPSILON-private (McKenna and Sheldon 2020, Theorem 1): it equals
report-noisy-max with exponential noise of scale 2 / EPSILON, where raising the winner's noise by 2 covers any change.
The best site is accepted surely when visited, so the loop always ends.
"""
import numpy as np

EPSILON = 0.9
SITES = tuple(i / 5 for i in range(6))


def total_distance(data, site):
    return sum(abs(x - site) for x in data)


def release_one(data, rng):
    data = [float(x) for x in data]
    scores = [-total_distance(data, s) for s in SITES]
    best = max(scores)

    def visit(order):
        head, *rest = order
        if not rest or rng.random() < np.exp(EPSILON * (scores[head] - best) / 2):
            return head
        return visit(rest)

    return SITES[visit(list(rng.permutation(len(SITES))))]


release_one.neighbours = [
    (np.array([1.0] * 8), np.array([0.0] + [1.0] * 7)),
    (np.array([0.1, 0.2, 0.2, 0.3, 0.5, 0.7, 0.8, 0.0]), np.array([0.1, 0.2, 0.2, 0.3, 0.5, 0.7, 0.8, 1.0])),
]
