"""One risky arm against a safe arm of known mean (a one-armed bandit).

The risky arm (1) is played until its private mean plus a margin falls below the
known mean of the safe arm (0).  The private mean comes from the streaming binary
mechanism: a reward is in one partial sum per level, each of which gets
Laplace(LEVELS/EPS).  Claim: EPS = 3.0 (pure).
"""
import math
import numpy as np

EPS = 3.0
KNOWN = 0.5
MARGIN = 0.5


def binary_counter(horizon, rng):
    levels = int(math.log2(horizon))
    scale = levels / EPS
    exact = [0.0] * (levels + 1)
    noisy = [0.0] * (levels + 1)
    total = None
    n = 0
    while True:
        x = yield total
        n += 1
        low = (n & -n).bit_length() - 1
        exact[low] = x + sum(exact[:low])
        noise = rng.laplace(0.0, scale, size=levels)
        for j in range(low):
            exact[j] = noisy[j] = 0.0
        noisy[low] = exact[low] + sum(noise[low:low + 1])
        total = sum(noisy[j] for j in range(levels + 1) if n >> j & 1)


def play(rewards, rng):
    horizon = rewards.shape[0]
    counter = binary_counter(horizon, rng)
    next(counter)
    actions = np.zeros(horizon, dtype=int)
    for t in range(horizon):
        actions[t] = 1
        total = counter.send(float(rewards[t, 1]))
        n = t + 1
        if total / n + MARGIN * math.sqrt(1 / n) < KNOWN:
            break
    return actions
