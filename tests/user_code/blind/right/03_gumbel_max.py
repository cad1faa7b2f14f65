"""Follow the perturbed leader of the last block with Gumbel noise.

Privacy. argmax_a (S_a + G_a) with G_a Gumbel of scale 1 / epsilon picks a with probability proportional
to exp(epsilon * S_a). If the sum of one arm j rises by d in [0, 1] and all the others stay, the weight
of j grows by e^(epsilon d) and the normaliser by a factor between 1 and e^(epsilon d). Hence the
probability of j grows by a factor in [1, e^(epsilon d)] and that of any other arm shrinks by one in
[e^(-epsilon d), 1]: epsilon-DP without the usual factor 2, because utilities move one at a time.
Only the rewards of the last block enter a draw, there is one draw for each block, and so each reward is
used in one draw: parallel composition, epsilon in total.
"""

import numpy as np

EPSILON = 1.0
BLOCK = 8


def play(rewards, rng):
    T, K = rewards.shape
    actions = np.zeros(T, dtype=int)
    leader = int(rng.integers(K))
    for start in range(0, T, BLOCK):
        sums = np.zeros(K)
        for t in range(start, min(T, start + BLOCK)):
            # even rounds explore in turn, odd ones follow the leader
            a = leader if t % 2 else (t // 2) % K
            actions[t] = a
            sums[a] += rewards[t, a]
        leader = int(np.argmax(sums + rng.gumbel(0.0, 1.0 / EPSILON, size=K)))
    return actions
