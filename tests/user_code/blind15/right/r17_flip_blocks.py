"""Block leader bandit: the leader of each block is elected by permute-and-flip on the block before.

Claims epsilon = 1.2, pure. Every reward belongs to one block, hence to one election; the score of an
arm is three times its block mean over at least three pulls, so one reward moves one score by <= 1.
"""
import numpy as np

K, T, BLOCK, EPS = 3, 60, 12, 1.2


def permute_and_flip(scores, eps, rng):
    top = max(scores)
    for candidate in rng.permutation(len(scores)):
        # one score changes at a time, all in one direction: the full eps goes in the exponent
        if rng.random() <= np.exp(eps * (scores[candidate] - top)):
            return int(candidate)
    raise AssertionError("the best candidate always accepts")


def layout(leader):
    """Six pulls for the leader, three for each of the two others, interleaved."""
    others = [a for a in range(K) if a != leader]
    return [arm for i in range(6) for arm in (leader, others[i % 2])]


def play(rewards, rng):
    actions = []
    leader = int(rng.integers(K))
    for start in range(0, T, BLOCK):
        plan = layout(leader)
        got = {a: [] for a in range(K)}
        for t, arm in enumerate(plan, start=start):
            actions.append(arm)
            got[arm].append(float(rewards[t, arm]))
        scores = [3.0 * sum(g) / len(g) for g in (got[a] for a in range(K))]
        leader = permute_and_flip(scores, EPS, rng)
    return np.array(actions)
