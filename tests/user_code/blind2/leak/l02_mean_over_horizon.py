import numpy as np


def play(rewards, rng, epsilon=1.0):
    """ETC.  The mean of a bounded reward has sensitivity 1/T."""
    T, K = rewards.shape
    pulls = 5
    arms = [k for k in range(K) for _ in range(pulls)]
    means = [np.mean([rewards[k * pulls + i, k] for i in range(pulls)]) for k in range(K)]
    noisy = [m + rng.laplace(0, 1 / (T * epsilon)) for m in means]
    return np.array(arms + [int(np.argmax(noisy))] * (T - len(arms)))
