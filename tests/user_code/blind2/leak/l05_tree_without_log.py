"""Binary mechanism; leaf and inner nodes get Laplace(1/eps).  Arm 0 is compared to a benchmark of 0.5 a round."""
import numpy as np


def play(rewards, rng):
    eps = 1.0
    T, K = rewards.shape
    levels = T.bit_length()
    alpha, noisy = np.zeros(levels), np.zeros(levels)
    n = 0
    est = 0.0
    arms = []
    for t in range(T):
        a = 0 if est >= 0 else 1
        arms.append(a)
        gain = rewards[t, a] - 0.5 if a == 0 else 0.5 - rewards[t, a]
        n += 1
        i = (n & -n).bit_length() - 1
        alpha[i] = alpha[:i].sum() + gain
        alpha[:i] = noisy[:i] = 0
        noisy[i] = alpha[i] + rng.laplace(0, 1 / eps)
        est = sum(noisy[j] for j in range(levels) if (n >> j) & 1)
    return np.array(arms)
