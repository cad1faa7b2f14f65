"""UCB1 run on de-biased randomised-response bits of the rewards."""
import numpy as np

EPS = 1.0
P = np.exp(EPS) / (1 + np.exp(EPS))


def privatise(x, rng):
    bit = rng.random() < x              # unbiased Bernoulli rounding
    if rng.random() >= P:
        bit = not bit
    return (float(bit) - (1 - P)) / (2 * P - 1)


def play(rewards, rng):
    T, K = rewards.shape
    n = np.zeros(K)
    s = np.zeros(K)
    out = np.empty(T, dtype=int)
    sigma = 1 / (2 * P - 1)
    for t in range(T):
        if t < K:
            a = t
        else:
            a = int(np.argmax(s / n + sigma * np.sqrt(np.log(t + 1) / (2 * n))))
        out[t] = a
        s[a] += privatise(rewards[t, a], rng)
        n[a] += 1
    return out
