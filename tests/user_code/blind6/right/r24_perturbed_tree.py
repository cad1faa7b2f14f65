"""Follow the perturbed leader on tree aggregated totals."""
import numpy as np

EPSILON = 3.0


def play(rewards, rng):
    T, K = rewards.shape
    L = int(T).bit_length()
    scale = L / EPSILON
    open_nodes = []  # (size, exact vector, noisy vector)
    out = np.zeros(T, int)
    for t in range(T):
        prefix = sum((noisy for _, _, noisy in open_nodes), np.zeros(K))
        bonus = rng.exponential(1.0 + np.sqrt(t) / 2, K)
        arm = int(np.argmax(prefix + bonus))
        out[t] = arm
        vec = np.zeros(K)
        vec[arm] = rewards[t, arm]
        size = 1
        while open_nodes and open_nodes[-1][0] == size:
            _, left, _ = open_nodes.pop()
            vec = vec + left
            size *= 2
        open_nodes.append((size, vec, vec + rng.laplace(0, scale, K)))
    return out
