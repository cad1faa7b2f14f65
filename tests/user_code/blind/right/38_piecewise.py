"""EXP3 on locally private rewards from the piecewise mechanism.

Privacy. x = 2 r - 1 is in [-1, 1]. With h = e^(eps/2) and C = (h + 1) / (h - 1), the answer is uniform on [l, l + C - 1],
l = (C + 1) x / 2 - (C - 1) / 2, with probability h / (h + 1), else uniform on the rest of [-C, C], of length C + 1. Densities
are h / ((h + 1)(C - 1)) inside and 1 / ((h + 1)(C + 1)) outside; their ratio is h (C + 1) / (C - 1) = h * h = e^eps. There is
one answer per reward, and EXP3's weights and draws are made of answers only.
"""

import numpy as np

EPSILON = 1.0
H = np.exp(EPSILON / 2)
C = (H + 1) / (H - 1)


def piecewise(r, rng):
    x = 2 * min(max(float(r), 0.0), 1.0) - 1
    left = (C + 1) / 2 * x - (C - 1) / 2
    right = left + C - 1
    if rng.random() < H / (H + 1):
        y = rng.uniform(left, right)
    else:
        y = rng.uniform(-C, -C + (C + 1))  # a point on the outside, folded over the gap
        if y > left:
            y += right - left
    return (y + 1) / 2


def play(rewards, rng, eta=0.08, gamma=0.1):
    T, K = rewards.shape
    logw = np.zeros(K)
    chosen = np.zeros(T, dtype=int)
    for t in range(T):
        w = np.exp(logw - logw.max())
        p = (1 - gamma) * w / w.sum() + gamma / K
        a = int(rng.choice(K, p=p))
        chosen[t] = a
        logw[a] += eta * piecewise(rewards[t, a], rng) / p[a]
    return chosen
