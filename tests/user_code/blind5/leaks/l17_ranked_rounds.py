"""Median elimination where the better arms of a phase are tried first in the next."""
from operator import itemgetter

EPSILON = 1.0
PULLS = 5


def phase(rewards, alive, arms, rng):
    board = []
    for arm in alive:
        t = len(arms)
        exact = float(rewards[t:t + PULLS, arm].sum())
        board.append({"arm": arm, "sum": exact, "noisy": exact + rng.laplace(0.0, 1.0 / EPSILON)})
        arms.extend([arm] * PULLS)
    return board


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    alive, arms = list(range(n_arms)), []
    while len(alive) > 1 and len(arms) + PULLS * len(alive) <= horizon:
        board = phase(rewards, alive, arms, rng)
        noisy = sorted((row["noisy"] for row in board), reverse=True)
        cut = noisy[(len(noisy) + 1) // 2 - 1]
        kept = [row for row in board if row["noisy"] >= cut]
        alive = [row["arm"] for row in sorted(kept, key=itemgetter("sum"), reverse=True)]
    return arms + [alive[0]] * (horizon - len(arms))
