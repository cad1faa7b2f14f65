"""Commit by permute-and-flip.

Arms are visited in a random order; arm a is accepted with probability exp(epsilon (S_a - max S)).

Privacy. Permute-and-flip has the same output distribution as reporting the largest S_a + E_a with E_a
exponential of scale 1 / epsilon. Let one sum S_j rise by d in [0, 1], others fixed.
 * Arm j: given the noise of the others j wins if E_j exceeds some m - S_j, which has probability
   min(1, e^(-epsilon (m - S_j))); it grows by a factor in [1, e^(epsilon d)].
 * Arm i != j: its probability can only fall, and since P(E_i > x + d) >= e^(-epsilon d) P(E_i > x) for all
   real x, it falls by at most e^(epsilon d).
So one selection is epsilon-DP if a single sum moves by at most 1, which is all that one reward can do.
There is one selection per stage and a stage uses only its own rewards.
"""

import numpy as np

EPSILON = 1.0
STAGE = 20


def permute_and_flip(score, rng):
    top = score.max()
    for a in rng.permutation(len(score)):
        if rng.random() <= np.exp(EPSILON * (score[a] - top)):
            return int(a)
    raise AssertionError("the best arm is always accepted")


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    for begin in range(0, T, STAGE):
        end = min(T, begin + STAGE)
        split = min(end, begin + (STAGE // (2 * K)) * K)
        score = np.zeros(K)
        for t in range(begin, split):
            actions[t] = (t - begin) % K
            score[actions[t]] += rewards[t, actions[t]]
        actions[split:end] = permute_and_flip(score, rng)
    return actions
