import numpy as np


def play(rewards, rng):
    """Follow the noisy leader with one tree over TIME whose nodes hold a vector of K sums.

    T = 32 has dyadic intervals of lengths 1, 2, 4, 8, 16, 32: every round lies in 6 of them.  In each of these the
    round's reward is in one coordinate only.  All node noises are Laplace(6/eps), drawn at the start.  6 * eps/6.
    """
    eps = 1.0
    T, K = rewards.shape
    depth = T.bit_length()          # 6 for 32
    assert 2 ** (depth - 1) >= T
    Z = [rng.laplace(scale=depth / eps, size=(T >> d, K)) for d in range(depth)]
    X = np.zeros((T, K))
    arms = np.zeros(T, dtype=int)
    for t in range(T):
        pos, est = 0, np.zeros(K)
        for d in reversed(range(depth)):        # dyadic cover of [0, t)
            if (t >> d) & 1:
                node = pos >> d
                est += X[pos:pos + (1 << d)].sum(0) + Z[d][node]
                pos += 1 << d
        arms[t] = t if t < K else est.argmax()
        X[t, arms[t]] = rewards[t, arms[t]]
    return arms
