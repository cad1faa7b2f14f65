import numpy as np

# sign(D + Logistic(1/eps)): P(arm 1) = sigmoid(eps D).  log sigmoid(z) and log(1 - sigmoid(z)) are 1-Lipschitz, D moves
# by at most 1 if one reward does, so a decision costs eps.  Four duels on separate data (8 rounds each): eps in all.
EPS = 1.0


def duel(chunk, rng, first):
    """chunk: the next 8 rows.  Returns the arms played."""
    second = 1 - first
    seq = [first, second, first, second, first, second]
    gain = {0: 0.0, 1: 0.0}
    for row, a in zip(chunk, seq):
        gain[a] += row[a]
    winner = int(gain[1] - gain[0] + rng.logistic(0, 1 / EPS) > 0)
    return seq + [winner, winner]


def play(rewards, rng):
    """Duels; the winner opens the next one."""
    out, first = [], 0
    for i in range(0, len(rewards), 8):
        out += duel(rewards[i:i + 8], rng, first)
        first = out[-1]
    return np.array(out)
