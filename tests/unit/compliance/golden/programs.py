"""Small programs of every form that code of users has, of which the golden compliance documents tell."""

import numpy as np


def play(rewards, rng):
    """Half of the first round's reward decides, with noise of half the scale that epsilon 1 needs."""
    seen = rewards[0, 0] + rng.laplace(0, 0.5)
    return [0] + [int(seen > 0.5)] * (len(rewards) - 1)


def play_many(rewards, n_runs, rng):
    """Many runs at once, each with the noise that epsilon 1 needs."""
    seen = rewards[0, 0] + rng.laplace(0, 1.0, n_runs)
    actions = np.zeros((n_runs, len(rewards)), dtype=int)
    actions[:, 1:] = (seen > 0.5)[:, None]
    return actions


def release(data, size, rng):
    """The number itself, with the noise that epsilon 1 needs."""
    return data + rng.laplace(0, 1.0, size)


def contextual(contexts, rewards, rng):
    """The first user's context and reward, with too little noise, decide what the others are given."""
    seen = contexts[0, 0, 0] * rewards[0, 0] + rng.laplace(0, 0.1)
    return [0] + [int(seen > 0.5)] * (len(rewards) - 1)
