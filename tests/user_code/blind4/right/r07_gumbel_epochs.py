"""Epochs: short exploration, a Gumbel-perturbed argmax, then exploitation of the pick."""
import numpy as np

EPS = 1.0


def gumbel_argmax(scores, scale, rng):
    u = rng.random(len(scores))
    g = -np.log(-np.log(np.clip(u, 1e-300, 1 - 1e-16)))
    return int(np.argmax(np.asarray(scores) + scale * g))


def play(rewards, rng):
    T, K = rewards.shape
    acts = []
    per_arm, exploit = 4, 12
    while len(acts) < T:
        fresh = np.zeros(K)
        for a in list(range(K)) * per_arm:
            if len(acts) == T:
                return acts
            fresh[a] += rewards[len(acts), a]
            acts.append(a)
        pick = gumbel_argmax(fresh, 2.0 / EPS, rng)
        acts.extend([pick] * min(exploit, T - len(acts)))
        exploit *= 2
    return acts
