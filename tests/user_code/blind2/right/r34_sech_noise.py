import numpy as np


def sech_noise(rng, eps, size):
    """f(x) ~ 1/cosh(eps x): |slope of log f| = eps |tanh(eps x)| <= eps.  Sampled as log(tan(pi U / 2)) / eps."""
    u = rng.uniform(1e-300, 1, size)
    return np.log(np.tan(np.pi * u / 2)) / eps


def play(rewards, rng):
    """Each arm is tried 7 times, sums + sech noise are published (sensitivity 1, one coordinate), best two are
    alternated until the end.  Published numbers are 1.5-DP."""
    n_rounds, n_arms = rewards.shape
    order = np.tile(np.arange(n_arms), 7)
    sums = np.zeros(n_arms)
    for t, a in enumerate(order):
        sums[a] += rewards[t, a]
    published = sums + sech_noise(rng, 1.5, n_arms)
    top_two = np.argsort(published)[::-1][:2]
    rest = np.resize(top_two, n_rounds - len(order))
    return np.concatenate([order, rest])
