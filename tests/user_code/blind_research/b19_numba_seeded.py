import numpy as np
from numba import njit


@njit
def dp_etc(table, eps):
    np.random.seed(42)  # reproducible results
    T, K = table.shape
    s = np.zeros(K)
    out = np.zeros(T, dtype=np.int64)
    for t in range(5 * K):
        out[t] = t % K
        s[t % K] += table[t, t % K]
    for a in range(K):
        s[a] += np.random.laplace(0.0, 1.0 / eps)
    best = np.argmax(s)
    for t in range(5 * K, T):
        out[t] = best
    return out


def play(rewards, rng):
    return dp_etc(np.asarray(rewards, dtype=np.float64), 1.0)


if __name__ == "__main__":
    print(play(np.random.rand(30, 3), None))
