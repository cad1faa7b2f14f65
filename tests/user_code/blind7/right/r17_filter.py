"""A privacy filter in a pandas ledger: sums of an arm may be asked for until its budget is used up.

Right. Every arm has a budget EPSILON for its rewards. A question costs what is asked of it (more if the
arms were close, as earlier noisy answers tell), and is refused if the arm's spent budget plus the cost
exceeds EPSILON. Pure budgets add up even if costs are chosen on the way, and a reward belongs to one arm.
"""

import numpy as np
import pandas as pd

EPSILON = 2.0


class Ledger:
    def __init__(self, arms):
        self.frame = pd.DataFrame({"spent": 0.0, "limit": EPSILON}, index=range(arms))

    def charge(self, arm, cost):
        row = self.frame.loc[arm]
        if row.spent + cost > row.limit + 1e-12:
            return False
        self.frame.loc[arm, "spent"] = row.spent + cost
        return True


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    ledger = Ledger(n_arms)
    history = {a: [] for a in range(n_arms)}
    estimate = np.full(n_arms, 0.5)
    actions, leader = [], 0
    for t in range(horizon):
        arm = t % n_arms if t < 4 * n_arms else leader
        history[arm].append(rewards[t, arm])
        actions.append(arm)
        if t % 8 == 7:
            ranked = np.sort(estimate)
            cost = 0.5 if ranked[-1] - ranked[-2] < 0.2 else 0.25
            for a in range(n_arms):
                if history[a] and ledger.charge(a, cost):
                    estimate[a] = (sum(history[a]) + rng.laplace(0, 1 / cost)) / len(history[a])
            leader = int(estimate.argmax())
    return np.array(actions)
