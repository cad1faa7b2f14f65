"""Phased play: round-robin probe, then an arm chosen by permute-and-flip.

A phase probes each arm twice, chooses one arm with permute-and-flip on the
phase's sums (rate EPS, scores change one at a time) and plays it for the rest of
the phase; rewards of that part are not used.  Claim: EPS = 2.0, pure.
"""
import math
import numpy as np

EPS = 2.0
PROBES = 2
COMMIT = 7


def permute_and_flip(scores, rng):
    top = max(scores)
    for i in rng.permutation(len(scores)):
        if rng.random() < math.exp(EPS * (scores[i] - top)):
            return int(i)
    raise AssertionError("the top score is always accepted")


def phase(n_arms):
    """Yields arms to play; receives rewards of the probes."""
    scores = [0.0] * n_arms
    for a in list(range(n_arms)) * PROBES:
        r = yield a
        scores[a] += r
    return scores


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions = []
    while len(actions) < horizon:
        gen = phase(n_arms)
        arm = next(gen)
        scores = None
        while len(actions) < horizon:
            t = len(actions)
            actions.append(arm)
            try:
                arm = gen.send(float(rewards[t, arm]))
            except StopIteration as stop:
                scores = stop.value
                break
        if scores is None:
            break
        winner = permute_and_flip(scores, rng)
        actions.extend([winner] * min(COMMIT, horizon - len(actions)))
    return np.asarray(actions)
