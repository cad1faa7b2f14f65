"""Asks for the same sum more and more exactly until the budget is gone.

Right. An answer that looks doubtful (close to the half of n) is followed by a question with twice the
budget, else by one with the same; a question is only asked if what was spent and its cost are at most
EPSILON together. Costs depend on earlier noisy answers alone, and pure budgets add up for such choices.
Unused places are NaN.
"""

import numpy as np

EPSILON = 1.4
PLACES = 7


def release_one(data, rng):
    values = np.clip(np.atleast_1d(np.asarray(data, dtype=float)), 0, 1)
    answers = np.full(PLACES, np.nan)
    spent, cost = 0.0, 0.2
    for place in range(PLACES):
        if spent + cost > EPSILON + 1e-9:
            break
        spent += cost
        answers[place] = values.sum() + rng.laplace(0, 1 / cost)
        if abs(answers[place] - len(values) / 2) < 2:
            cost *= 2
    return answers


release_one.neighbours = [
    (np.zeros(5), np.r_[1.0, np.zeros(4)]),
    (np.r_[np.ones(5), np.zeros(5)], np.r_[np.ones(6), np.zeros(4)]),
]
