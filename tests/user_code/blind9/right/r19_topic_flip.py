"""Most read of four topics by permute-and-flip.
Proof: counts have sensitivity 1 each (one up, one down on replacement); permute-and-flip with
acceptance exp(EPSILON*(q - q_max)/2) is EPSILON-DP (McKenna and Sheldon 2020)."""
import numpy as np
import pandas as pd
EPSILON = 1.4
TOPICS = ["world", "sport", "money", "arts"]


def release_one(data, rng):
    q = pd.cut(pd.Series(data), [-1, 0.25, 0.5, 0.75, 1.0], labels=TOPICS).value_counts()
    for topic in rng.permutation(TOPICS):
        if rng.random() < np.exp(EPSILON * (q[topic] - q.max()) / 2):
            return str(topic)


release_one.neighbours = [(np.array([0.1] * 4 + [0.6] * 4), np.array([0.1] * 3 + [0.6] * 5))]
