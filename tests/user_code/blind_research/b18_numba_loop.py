import math

import numpy as np
from numba import njit


@njit
def _loop(table, noise, c):
    T, K = table.shape
    s, n = np.zeros(K), np.zeros(K)
    arms = np.zeros(T, dtype=np.int64)
    for t in range(T):
        best = 0
        top = -1e300
        for a in range(K):
            v = 1e200 - a if n[a] == 0 else s[a] / n[a] + c * math.sqrt(math.log(t + 1.0) / n[a])
            if v > top:
                top = v
                best = a
        arms[t] = best
        s[best] += table[t, best] + noise[t]
        n[best] += 1
    return arms


def play(rewards, rng):
    """LDP-UCB: every reward is seen with Laplace(1) noise, epsilon = 1."""
    return _loop(np.ascontiguousarray(rewards, dtype=np.float64), rng.laplace(0.0, 1.0, len(rewards)), 2.0)


if __name__ == "__main__":
    g = np.random.default_rng(1)
    print(play(g.random((40, 2)), g))
