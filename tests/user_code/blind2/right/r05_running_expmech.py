import math


def sample_index(weights, u):
    """Walk along the weights until u of the mass is used up."""
    left = u * sum(weights)
    for i, w in enumerate(weights):
        left -= w
        if left < 0:
            return i
    return len(weights) - 1


def play(rewards, rng):
    """Every arm is drawn by the exponential mechanism on the sums so far.

    There are T draws; a reward can matter for the T - 1 later ones.  One sum moves by at most 1, so a draw
    with weights exp(eps/(T-1) * sum) costs eps/(T-1), and basic composition gives eps = 3.
    """
    eps = 3.0
    T, K = rewards.shape
    step = eps / (T - 1)
    sums = [0.0 for _ in range(K)]
    history = []
    for t in range(T):
        a = sample_index([math.exp(step * s) for s in sums], rng.random())
        history.append(a)
        sums[a] += float(rewards[t, a])
    import numpy as np
    return np.asarray(history)
