"""Sequential halving over doses; fresh noisy sums in every stage.

Proof: a reward enters one stage's sum of one dose only, and moves it by at most 1; sampling plans
depend on earlier noisy sums only. Laplace(1/EPSILON) by inverse CDF gives EPSILON-DP.
"""
import math
import numpy as np

EPSILON = 0.9


def noise(rng):
    u = rng.random() - 0.5
    return -math.copysign(math.log1p(-2 * abs(u)), u) / EPSILON


def play(rewards, rng):
    T, K = rewards.shape
    alive, out = list(range(K)), []
    while len(alive) > 1:
        total = {a: 0.0 for a in alive}
        for i in range(3 * len(alive)):
            a = alive[i % len(alive)]
            if len(out) < T:
                total[a] += rewards[len(out), a]
                out.append(a)
        noisy = {a: s + noise(rng) for a, s in total.items()}
        alive = sorted(alive, key=noisy.get, reverse=True)[:(len(alive) + 1) // 2]
    out += [alive[0]] * (T - len(out))
    return np.array(out)
