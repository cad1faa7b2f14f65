"""Follow the leader in phases on cumulative sums."""
import numpy as np

EPSILON = 0.5


def play(rewards, rng):
    T, K = rewards.shape
    sums = np.zeros(K)
    actions = []
    leader = None
    bounds = np.linspace(0, T, 7).astype(int)
    for lo, hi in zip(bounds[:-1], bounds[1:]):
        for t in range(lo, hi):
            explore = leader is None or t - lo < K
            arm = (t - lo) % K if explore else leader
            actions.append(arm)
            if explore:
                sums[arm] += rewards[t, arm]
        leader = int(np.argmax(sums + rng.laplace(0, 1 / EPSILON, K)))
    return np.array(actions)
