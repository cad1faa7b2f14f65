"""Greedy on a window of recent blocks."""
from collections import deque

import numpy as np

EPS = 1.0
BLOCK = 8
KEEP = 3


def play(rewards, rng):
    T, K = rewards.shape
    windows = [deque(maxlen=KEEP) for _ in range(K)]
    result = []
    block_no = 0
    while len(result) < T:
        if block_no < K:
            arm = block_no
        elif rng.random() < 0.2:
            arm = int(rng.integers(K))
        else:
            arm = max(range(K), key=lambda k: sum(windows[k]) / len(windows[k]))
        lo = len(result)
        hi = min(lo + BLOCK, T)
        value = float(rewards[lo:hi, arm].sum()) + rng.laplace(0, 1 / EPS)
        windows[arm].append(value / (hi - lo))
        result.extend([arm] * (hi - lo))
        block_no += 1
    return np.array(result)
