"""Leaks that show on few pairs of inputs only: between two middle arms, late, inside the bounds, on one path.

EPSILON = 1 is claimed of each. They were written before the search tried such pairs: it refuted none of them.
Each of `LEAKS` has the number of arms that it needs; `RIGHT` are their private siblings. All of them play
many runs in a call, so that nothing traces them.
"""

import numpy as np

EPSILON = 1.0
HORIZON = 40
HALF, LATE = 20, 30


def in_turn(rewards, n_runs, start=0, end=HALF):
    """Actions that take the arms in turn, and the sums of what each arm pays from `start` to `end`."""
    horizon, n_arms = rewards.shape
    arms = np.arange(horizon) % n_arms
    sums = np.array([rewards[start:end][arms[start:end] == a, a].sum() for a in range(n_arms)])
    return np.tile(arms, (n_runs, 1)), sums


def noisy(sums, n_runs, rng, scale=1 / EPSILON):
    """Sums with fresh noise for each run, (n_runs, K)."""
    return sums + rng.laplace(0, scale, (n_runs, len(sums)))


def paid(rewards, arms, start, end):
    """What each run is paid from `start` to `end`, where it plays one arm all along."""
    return rewards[start:end].sum(axis=0)[arms]


def two_leaders(rewards, n_runs, rng, leaders=(1, 2), scale=0.0):
    """Exact sums decide between arms 1 and 2 where both are far ahead of all others."""
    actions, sums = in_turn(rewards, n_runs)
    told = noisy(sums, n_runs, rng)
    winner = told.argmax(axis=1)
    others = np.delete(told, leaders, axis=1).max(axis=1)
    alone = told[:, leaders].min(axis=1) > others + 2
    close = (
        noisy(sums[list(leaders)], n_runs, rng, scale) if scale else np.tile(sums[list(leaders)], (n_runs, 1))
    )
    winner[alone] = np.array(leaders)[close.argmax(axis=1)][alone]
    actions[:, HALF:] = winner[:, None]
    return actions


def first_and_third(rewards, n_runs, rng):
    """The same between arms 0 and 2."""
    return two_leaders(rewards, n_runs, rng, (0, 2))


def level_of_the_second_arm(rewards, n_runs, rng):
    """Where arm 1 wins, whether it is left again depends on its exact sum."""
    actions, sums = in_turn(rewards, n_runs)
    winner = noisy(sums, n_runs, rng).argmax(axis=1)
    actions[:, HALF:] = winner[:, None]
    if sums[1] < 4.4:
        actions[winner == 1, LATE:] = 2
    return actions


def one_late_round(rewards, n_runs, rng, weight=3.0):
    """A second exploration is right, but for one reward of round 31 that counts three times."""
    actions, _ = in_turn(rewards, n_runs)
    later = in_turn(rewards, n_runs, HALF, 36)[1]
    later[30 % rewards.shape[1]] += (weight - 1) * rewards[30, 30 % rewards.shape[1]]
    actions[:, 36:] = noisy(later, n_runs, rng).argmax(axis=1)[:, None]
    return actions


def after_the_commitment(rewards, n_runs, rng, scale=0.0):
    """The arm that was chosen is left if what it then paid, ten late rewards, is too little."""
    actions, sums = in_turn(rewards, n_runs)
    winner = noisy(sums, n_runs, rng).argmax(axis=1)
    later = paid(rewards, winner, HALF, LATE) + (rng.laplace(0, scale, n_runs) if scale else 0.0)
    actions[:, HALF:] = winner[:, None]
    left = later < 6.2
    actions[left, LATE:] = (winner[left, None] + 1) % rewards.shape[1]
    return actions


def on_the_other_path(rewards, n_runs, rng):
    """Only runs that prefer arm 1, which needs a lead of one, look at its exact sum later."""
    actions, sums = in_turn(rewards, n_runs)
    told = noisy(sums, n_runs, rng)
    second = told[:, 1] > told[:, 0] + 1
    actions[:, HALF:] = second[:, None]
    if sums[1] + rewards[HALF:LATE, 1].sum() < 11:
        actions[second, LATE:] = 0
    return actions


def inside_the_bounds(rewards, n_runs, rng, stretch=3.0):
    """Rewards at a bound count as missing, .5; those between are stretched: two of these differ most."""
    missing = (rewards <= 0) | (rewards >= 1)
    return committed(np.where(missing, 0.5, 0.5 + stretch * (rewards - 0.5)), n_runs, rng)


def inside_against_a_bound(rewards, n_runs, rng):
    """What is low without being nothing counts as a fault, -1.5; a reward at a bound is as it should be."""
    return committed(np.where((rewards > 0) & (rewards < 0.05), -1.5, rewards), n_runs, rng)


def committed(rewards, n_runs, rng, scale=1 / EPSILON):
    """Explore, then commit: private for rewards in [0, 1]."""
    actions, sums = in_turn(rewards, n_runs)
    actions[:, HALF:] = noisy(sums, n_runs, rng, scale).argmax(axis=1)[:, None]
    return actions


def late_and_inside(rewards, n_runs, rng):
    """The second exploration alone stretches rewards that lie between the bounds."""
    actions, _ = in_turn(rewards, n_runs)
    inner = (rewards > 0) & (rewards < 1)
    later = in_turn(np.where(inner, 0.5 + 2.4 * (rewards - 0.5), 0.5), n_runs, HALF, 36)[1]
    actions[:, 36:] = noisy(later, n_runs, rng).argmax(axis=1)[:, None]
    return actions


def last_of_the_exploration(rewards, n_runs, rng):
    """The last round before the commitment counts four times."""
    weighted = rewards.copy()
    weighted[HALF - 1] *= 4
    return committed(weighted, n_runs, rng)


def two_leaders_right(rewards, n_runs, rng):
    """Two leaders whose comparison has noise of its own; all noise is twice as large."""
    actions, sums = in_turn(rewards, n_runs)
    told = noisy(sums, n_runs, rng, 2 / EPSILON)
    winner = told.argmax(axis=1)
    alone = told[:, 1:3].min(axis=1) > np.delete(told, (1, 2), axis=1).max(axis=1) + 2
    again = noisy(sums[1:3], n_runs, rng, 2 / EPSILON)
    winner[alone] = 1 + again.argmax(axis=1)[alone]
    actions[:, HALF:] = winner[:, None]
    return actions


def one_late_round_right(rewards, n_runs, rng):
    """A second exploration, each reward of which counts once."""
    return one_late_round(rewards, n_runs, rng, weight=1.0)


def after_the_commitment_right(rewards, n_runs, rng):
    """What the chosen arm pays has noise of its own."""
    return after_the_commitment(rewards, n_runs, rng, scale=1 / EPSILON)


def inside_the_bounds_right(rewards, n_runs, rng):
    """Rewards at a bound count as missing; those between are as they are."""
    return inside_the_bounds(rewards, n_runs, rng, stretch=1.0)


LEAKS = {
    two_leaders: 4,
    first_and_third: 4,
    level_of_the_second_arm: 3,
    one_late_round: 3,
    after_the_commitment: 2,
    on_the_other_path: 2,
    inside_the_bounds: 2,
    inside_against_a_bound: 2,
    late_and_inside: 3,
    last_of_the_exploration: 3,
}
RIGHT = {
    two_leaders_right: 4,
    one_late_round_right: 3,
    after_the_commitment_right: 2,
    inside_the_bounds_right: 2,
    committed: 4,
}
