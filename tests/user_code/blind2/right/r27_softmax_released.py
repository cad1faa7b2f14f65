import numpy as np


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / e.sum()


def play(rewards, rng):
    """Boltzmann exploration on privatised sums, updated every 10 rounds.

    In window w we collect the sums of the arms over 10 rounds and publish them + Laplace(1/eps).  The windows do not
    overlap.  Temperatures, softmax, sampling: post-processing of what is published.
    """
    eps = 1.0
    n, K = rewards.shape
    published = np.zeros(K)
    counts = np.ones(K)
    acts = np.zeros(n, dtype=int)
    for w in range(0, n, 10):
        p = softmax(3.0 * published / counts)
        idx = np.arange(w, min(w + 10, n))
        acts[idx] = rng.choice(K, size=len(idx), p=p)
        one_hot = np.eye(K)[acts[idx]]
        gain = one_hot.T @ rewards[idx, acts[idx]]
        published = published + gain + rng.laplace(0, 1 / eps, size=K)
        counts = counts + one_hot.sum(axis=0)
    return acts
