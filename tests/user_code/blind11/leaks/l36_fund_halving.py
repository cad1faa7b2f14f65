"""Sequential halving of a fund shortlist; the scoreboard is kept through the knock-out.

Claim: EPSILON-DP for the action sequence, one reward in [0, 1] changed.
Fault: the scoreboard is not cleared between stages, so a first-stage reward enters every later knock-out,
each of which spends the full EPSILON.
Pair: 4 funds, 40 rounds; fund 0 pays 0 in rounds 0..15, the others 0.75; everything pays 0.5 afterwards.
Right input: the reward of fund 0 in round 0 is 1.  Event: fund 0 is held at the end.
Its score trails by 3 (left) or 2 (right) in both knock-outs: 0.00219 against 0.01256, loss 1.747 > EPSILON.
"""
import heapq

import numpy as np

EPSILON = 1.0
PULLS = 4


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    actions = []
    board = [0.0] * n_arms
    shortlist = list(range(n_arms))
    while len(shortlist) > 1 and len(actions) + PULLS * len(shortlist) <= horizon:
        for fund in shortlist * PULLS:
            board[fund] += float(rewards[len(actions), fund])
            actions.append(fund)
        noisy = {fund: board[fund] + rng.laplace(scale=1.0 / EPSILON) for fund in shortlist}
        shortlist = sorted(heapq.nlargest(len(shortlist) // 2, shortlist, key=noisy.get))
    actions += shortlist[:1] * (horizon - len(actions))
    return np.array(actions)
