"""Block leader by permute-and-flip, four arms, epsilon = 1.2.

A block of sixteen rounds has three probes per arm, then four rounds on the
block's leader.  The leader is drawn by permute-and-flip on the probe sums of
this block only.  A reward moves one of the sums, all others stay, hence the
acceptance probability exp(eps * (score - best)) without the usual half.
"""
import numpy as np

EPS = 1.2
PROBES = 3
BLOCK = 16


def permute_and_flip(scores, eps, rng):
    best = max(scores)
    for a in rng.permutation(len(scores)):
        if rng.random() < np.exp(eps * (scores[a] - best)):
            return int(a)
    raise RuntimeError("unreachable: the best score is always accepted")


def play(rewards, rng):
    T, K = rewards.shape
    schedule = [a for _ in range(PROBES) for a in range(K)]
    actions = []
    for start in range(0, T, BLOCK):
        probes = [(start + i, a) for i, a in enumerate(schedule) if start + i < T]
        actions += [a for _, a in probes]
        room = min(BLOCK, T - start) - len(probes)
        if room > 0:
            scores = [sum(rewards[t, a] for t, a in probes if a == arm) for arm in range(K)]
            actions += [permute_and_flip(scores, EPS, rng)] * room
    return np.asarray(actions)
