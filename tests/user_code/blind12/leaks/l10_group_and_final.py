"""Tournament: a group phase, then a final between the two best arms.

In the group phase every arm gets G pulls; the two largest noisy totals (Laplace, scale
1 / EPS) go to the final, in which both get F pulls.  The final is decided on noisy means
(again EPS, fresh noise) and the champion is played to the end.  Group and final are
different pulls, so by parallel composition the run is EPS-DP.  Claim: EPS = 1.0.
"""
import heapq

import numpy as np

EPS = 1.0
G, F = 5, 6


def play(rewards, rng):
    horizon, k = rewards.shape
    log = []                      # (arm, reward)

    def pull(arm):
        log.append((arm, float(rewards[len(log), arm])))

    def noisy_total(arm):
        return sum(r for a, r in log if a == arm) + rng.laplace(0.0, 1.0 / EPS)

    for _ in range(G):
        for arm in range(k):
            pull(arm)
    finalists = sorted(heapq.nlargest(2, range(k), key=noisy_total))

    for _ in range(F):
        for arm in finalists:
            pull(arm)
    champion = max(finalists, key=noisy_total)
    while len(log) < horizon:
        pull(champion)
    return np.array([a for a, _ in log])
