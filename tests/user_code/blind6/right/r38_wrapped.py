"""Successive rejects with a decorated sum."""
import functools

import numpy as np

EPSILON = 1.0


def private(epsilon, sensitivity=1.0):
    def wrap(fn):
        @functools.wraps(fn)
        def inner(values, rng):
            return fn(values) + rng.laplace(0.0, sensitivity / epsilon)
        return inner
    return wrap


@private(EPSILON)
def total(values):
    return float(np.clip(values, 0, 1).sum())


def play(rewards, rng):
    T, K = rewards.shape
    live, out = list(range(K)), []
    budget = T // K
    score = dict.fromkeys(live, 0.0)
    while len(live) > 1:
        each = budget // len(live)
        for arm in live:
            t0 = len(out)
            score[arm] += total(rewards[t0:t0 + each, arm], rng)
            out.extend([arm] * each)
        live.remove(min(live, key=score.get))
    return np.array((out + live * T)[:T])
