"""UCB on tree-aggregated sums, one binary tree per arm.
Proof: a reward lies in at most L completed nodes, one per
level, each noised once with Laplace(L/EPSILON): jointly EPSILON-DP. L = bit_length(T), as the
number of pulls is at most T. Indices are functions of the stored noisy nodes."""
import numpy as np
EPSILON = 4.0


def play(rewards, rng):
    T, K = rewards.shape
    L = int(T).bit_length()
    raw, noisy, n = np.zeros((K, L)), np.zeros((K, L)), np.zeros(K, dtype=int)
    acts = []
    for t in range(T):
        if t < K:
            a = t
        else:
            a = int(np.argmax(noisy.sum(axis=1) / n + np.sqrt(2 * np.log(t + 1) / n)))
        n[a] += 1
        i = (int(n[a]) & -int(n[a])).bit_length() - 1
        raw[a, i] = raw[a, :i].sum() + rewards[t, a]
        raw[a, :i] = noisy[a, :i] = 0.0
        noisy[a, i] = raw[a, i] + rng.laplace(0, L / EPSILON)
        acts.append(a)
    return np.array(acts)
