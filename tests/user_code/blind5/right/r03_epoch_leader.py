"""Epochs of probing followed by exploiting the winner of a noisy-max contest."""
from collections import defaultdict
from itertools import cycle, islice

EPSILON = 1.0
PROBE_PER_ARM = 2
EXPLOIT = 10


def noisy_leader(scores, rng):
    # each reward touches one score only, so all changes go the same way
    contest = {arm: s + rng.exponential(1.0 / EPSILON) for arm, s in scores.items()}
    return max(contest, key=contest.get)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    out = []
    while len(out) < horizon:
        probes = list(islice(cycle(range(n_arms)), PROBE_PER_ARM * n_arms))
        if len(out) + len(probes) >= horizon:
            out.extend(probes[: horizon - len(out)])
            break
        scores = defaultdict(float)
        for arm in probes:
            scores[arm] += float(rewards[len(out), arm])
            out.append(arm)
        leader = noisy_leader(scores, rng)
        out.extend([leader] * min(EXPLOIT, horizon - len(out)))
    return out
