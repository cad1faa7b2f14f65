"""UCB refreshed when an arm's count doubles."""
import math

import numpy as np

EPSILON = 1.0


def fresh():
    return {"pulls": 0, "next": 1, "pending": 0.0, "released": 0.0, "seen": 0}


def play(rewards, rng):
    T, K = rewards.shape
    arms = {k: fresh() for k in range(K)}

    def index(k, t):
        a = arms[k]
        if a["seen"] == 0:
            return math.inf
        spread = math.sqrt(2 * math.log(t + 1) / a["seen"])
        privacy = 2 * math.log2(a["seen"] + 1) / (EPSILON * a["seen"])
        return a["released"] / a["seen"] + spread + privacy

    picks = []
    for t in range(T):
        k = max(arms, key=lambda j: index(j, t))
        picks.append(k)
        a = arms[k]
        a["pulls"] += 1
        a["pending"] += rewards[t, k]
        if a["pulls"] == a["next"]:
            a["released"] += a["pending"] + rng.laplace(0, 1 / EPSILON)
            a["pending"] = 0.0
            a["seen"] = a["pulls"]
            a["next"] *= 2
    return np.array(picks)
