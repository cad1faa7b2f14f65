"""Epsilon-greedy on one-bit reports."""
import numpy as np

EPSILON = 1.5
E = np.exp(EPSILON)


def report(x, rng):
    return float(rng.binomial(1, 1 / (E + 1) + x * (E - 1) / (E + 1)))


def decode(bit):
    return (bit * (E + 1) - 1) / (E - 1)


def play(rewards, rng):
    T, K = rewards.shape
    history = [[] for _ in range(K)]
    actions = np.empty(T, dtype=np.int32)
    explore = rng.random(T) < np.minimum(1, 10 / (1 + np.arange(T)))
    for t in range(T):
        if explore[t] or not all(history):
            a = rng.integers(K)
        else:
            a = np.argmax([np.mean(h) for h in history])
        actions[t] = a
        history[int(a)].append(decode(report(rewards[t, a], rng)))
    return actions
