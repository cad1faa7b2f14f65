import numpy as np


def play(contexts, rewards, rng, eps=1.0):
    """20 rounds in a fixed order; g = sum of r x over them; |r x|_1 <= sqrt(d), so g moves by at most 2 sqrt(d) in L1 if
    one user is replaced.  g + Laplace(2 sqrt(d)/eps) is eps-DP.  Later users choose with their own context and nothing
    of theirs is kept: they change their own action only, which joint DP does not count."""
    T, K, d = contexts.shape
    n = T // 2
    arms = np.arange(T) % K
    g = np.zeros(d)
    for t in range(n):
        g += rewards[t, arms[t]] * contexts[t, arms[t]]
    g += rng.laplace(0, 2 * np.sqrt(d) / eps, d)
    for t in range(n, T):
        arms[t] = np.argmax(contexts[t] @ g)
    return arms
