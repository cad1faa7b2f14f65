"""Epoch-wise explore-then-commit with Laplace noise that can be re-made for an audit.
K = 3, T = 36, epsilon = 1 (pure).

The noise of an epoch comes from its own generator whose seed is kept with the log of
the epoch, so a rerun of the log gives the same choice.  Epochs share no data.
"""
import zlib
import numpy as np

K, T, EPS = 3, 36, 1.0
EPOCH, PROBES = 12, 6


def log_seed(number, totals):
    line = "epoch=%d;" % number + ";".join("%.4f" % v for v in totals)
    return zlib.crc32(line.encode())


def play(rewards, rng):
    actions = []
    for number, start in enumerate(range(0, T, EPOCH)):
        offset = int(rng.integers(K))
        totals = np.zeros(K)
        for i in range(PROBES):
            arm = (offset + i) % K
            totals[arm] += rewards[start + i, arm]
            actions.append(arm)
        noise_rng = np.random.default_rng(log_seed(number, totals))
        noisy = totals + noise_rng.laplace(0.0, 1.0 / EPS, size=K)
        actions += [int(noisy.argmax())] * (EPOCH - PROBES)
    return actions
