"""Prefix sums by factorisation A = C C, C lower Toeplitz with c_0 = 1, c_k = c_{k-1} (2k-1)/(2k).

Released: y = C x + z for each arm's stream (x_t = 0 when another arm is played).  A change of one reward by at most 1
moves y by at most a column of C, whose L1 norm is below s = c_0 + ... + c_{T-1}; Laplace(s/eps) on each y_t is eps-DP,
also when later x depend on earlier y.  Prefix sums C y are post-processing.
"""
import numpy as np


def coefficients(T):
    c = np.ones(T)
    for k in range(1, T):
        c[k] = c[k - 1] * (2 * k - 1) / (2 * k)
    return c


def play(rewards, rng):
    eps = 2.0
    T, K = rewards.shape
    c = coefficients(T)
    b = c.sum() / eps
    x, y = np.zeros((T, K)), np.zeros((T, K))
    n = np.zeros(K)
    arms = np.zeros(T, dtype=int)
    for t in range(T):
        if t < 2 * K:
            a = t % K
        else:
            prefix = c[t - 1::-1] @ y[:t]
            a = int(np.argmax(prefix / n + np.sqrt(np.log(t + 1) / n)))
        arms[t] = a
        n[a] += 1
        x[t, a] = rewards[t, a]
        y[t] = c[t::-1] @ x[:t + 1] + rng.laplace(0, b, K)
    return arms
