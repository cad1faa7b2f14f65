"""Half the budget picks the leader, the other half measures its lead to decide on mixing."""
import numpy as np

EPS = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    m = T // (2 * K)
    acts = np.tile(np.arange(K), m)
    sums = np.zeros(K)
    np.add.at(sums, acts, rewards[np.arange(m * K), acts])
    e1 = e2 = EPS / 2
    leader = int(np.argmax(sums + rng.laplace(0, 1 / e1, K)))
    others = np.delete(sums, leader)
    lead = sums[leader] - others.max() + rng.laplace(0, 1 / e2)
    explore_prob = float(np.clip(0.3 - 0.05 * lead, 0.0, 0.3))
    tail = []
    for _ in range(T - m * K):
        if rng.random() < explore_prob:
            tail.append(int(rng.integers(K)))
        else:
            tail.append(leader)
    return list(acts) + tail
