"""Secrecy of the sample.

Each explored reward is kept with chance q = 0.4 by a secret coin.  The kept ones are summed and Laplace(1/eps0) is
added.  Write P0, P, P' for the output's law without the reward, with it, with its neighbour.  All three are within
e^eps0 of each other, hence P - P' <= (e^eps0 - 1) min(P0, P') and the mixture (1-q)P0 + qP is within
1 + q (e^eps0 - 1) of the neighbour's mixture.  eps0 = log(1 + (e^eps - 1)/q) makes that e^eps.
"""
import numpy as np

eps, q = 1.0, 0.4
eps0 = np.log1p(np.expm1(eps) / q)


def play(rewards, rng):
    T, K = rewards.shape
    n = 10 * K
    arms = np.tile(np.arange(K), T)[:T]
    observed = rewards[np.arange(n), arms[:n]]
    kept = rng.random(n) < q
    sums = np.array([observed[kept & (arms[:n] == k)].sum() for k in range(K)])
    arms[n:] = np.argmax(sums + rng.laplace(0, 1 / eps0, K))
    return arms
