"""Local DP with the piecewise mechanism (Wang et al. 2019).

v = 2x - 1 in [-1, 1].  With probability e^{eps/2}/(e^{eps/2}+1) the report is uniform on [l(v), l(v) + C - 1], otherwise on the
rest of [-C, C].  The density takes two values whose ratio is e^{eps}.  Every reward is reported once.
"""
import numpy as np


def piecewise(v, eps, rng):
    z = np.exp(eps / 2)
    C = (z + 1) / (z - 1)
    left = (C + 1) / 2 * v - (C - 1) / 2
    right = left + C - 1
    if rng.random() < z / (z + 1):
        return rng.uniform(left, right)
    u = rng.random() * (C + 1)          # length of the rest
    return -C + u if u < left + C else right + (u - (left + C))


def play(rewards, rng):
    T, K = rewards.shape
    tot, cnt = np.zeros(K), np.zeros(K)
    arms = []
    for t in range(T):
        a = t % K if t < 4 * K else int(np.argmax(tot / cnt + 1.0 / np.sqrt(cnt)))
        arms.append(a)
        tot[a] += piecewise(2 * rewards[t, a] - 1, 1.5, rng)
        cnt[a] += 1
    return np.array(arms)
