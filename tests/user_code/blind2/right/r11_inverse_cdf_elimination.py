import math

import numpy as np


def laplace_icdf(u, b):
    v = u - 0.5
    return -b * math.copysign(1.0, v) * math.log(max(1.0 - 2.0 * abs(v), 1e-300))


def play(rewards, rng):
    """Elimination: each phase pulls the remaining arms five times each and drops the worst.

    Per phase the sums are fresh.  Laplace(1/eps) is added to every sum (sensitivity 1, one coordinate), the drop is
    read from the noisy sums.  Which arms are pulled in the next phase is public.  Each reward is in one sum, so the
    releases of all phases together are eps-DP.
    """
    eps = 1.0
    T, K = rewards.shape
    alive = list(range(K))
    arms = []
    while len(alive) > 1:
        noisy = {}
        for a in alive:
            s = 0.0
            for _ in range(5):
                s += rewards[len(arms), a]
                arms.append(a)
            noisy[a] = s + laplace_icdf(rng.random(), 1 / eps)
        alive.remove(min(noisy, key=noisy.get))
    arms.extend(alive * (T - len(arms)))
    return np.array(arms)
