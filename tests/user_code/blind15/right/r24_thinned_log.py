"""Explore, thin the log by secret coins, select once, commit. Claims epsilon = 1, pure.

Each logged reward is kept with probability Q by its own private coin (never shown). The exponential
mechanism then runs at epsilon0 = log(1 + (e^epsilon - 1) / Q) on the sums of kept rewards; amplification by
Poisson subsampling brings epsilon0 back to epsilon.
"""
import math

import numpy as np
import pandas as pd

EPSILON, Q, PER_ARM = 1.0, 0.5, 8


def amplified(epsilon, q):
    return math.log1p(math.expm1(epsilon) / q)


def explore(rewards, rng):
    K = rewards.shape[1]
    order = np.concatenate([rng.permutation(K) for _ in range(PER_ARM)])
    seen = rewards[np.arange(order.size), order]
    return pd.DataFrame({"arm": order, "reward": seen})


def select(log, K, rng):
    kept = log[rng.random(len(log)) < Q]
    totals = kept.groupby("arm")["reward"].sum().reindex(range(K), fill_value=0.0)
    logits = amplified(EPSILON, Q) * totals.to_numpy()
    p = np.exp(logits - logits.max())
    return int(rng.choice(K, p=p / p.sum()))


def play(rewards, rng):
    T, K = rewards.shape
    log = explore(rewards, rng)
    winner = select(log, K, rng)
    return np.concatenate([log["arm"].to_numpy(), np.full(T - len(log), winner)]).astype(int)
