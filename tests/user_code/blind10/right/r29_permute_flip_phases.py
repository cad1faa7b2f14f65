"""Explore-then-exploit in phases; the leader of each phase is drawn by permute-and-flip (McKenna and Sheldon).

Each phase pulls every arm M times and forms fresh sums; a reward of [0, 1] therefore enters one sum of one phase,
and rewards of the exploit block are ignored.  Permute-and-flip with accept probability exp(EPSILON (s_i - max s))
equals the arg max of s_i + Exp(1/EPSILON).  Raising one sum s_1 by at most 1, with the other noises fixed: the
chance of 1 winning is P(E > c), with c lowered by <= 1, so it grows by a factor <= e^EPSILON; for another arm j the
bar max_{i != j}(s_i + E_i) - s_j rises by <= 1, so its chance falls by a factor <= e^EPSILON and never grows.
All other phases are post-processing of visible actions and other rewards.  Tight when arm 1 trails by 1 or more.
"""
import numpy as np

EPSILON = 1.0
M = 3          # pulls of each arm in a phase
EXPLOIT = 4


def permute_and_flip(scores, eps, rng):
    best = max(scores)
    for i in rng.permutation(len(scores)):
        if rng.random() < np.exp(eps * (scores[i] - best)):
            return int(i)
    raise AssertionError("the best candidate always accepts")


def play(rewards, rng):
    T, K = rewards.shape
    actions = []

    def pull(arm):
        actions.append(arm)
        return float(rewards[len(actions) - 1, arm])

    leader = int(rng.integers(K))
    while len(actions) < T:
        if T - len(actions) < K * M:
            actions.extend([leader] * (T - len(actions)))
            break
        sums = [sum(pull(arm) for _ in range(M)) for arm in range(K)]
        leader = permute_and_flip(sums, EPSILON, rng)
        for _ in range(min(EXPLOIT, T - len(actions))):
            pull(leader)
    return np.array(actions, dtype=int)
