"""Phased greedy with a fixed number of paid looks at the totals."""

EPSILON = 2.0
LOOKS = 4
PROBES = 3
RUN = 10


class Budget:
    def __init__(self, epsilon, looks, rng):
        self.price = epsilon / looks
        self.left = epsilon
        self.rng = rng

    def look(self, totals):
        if self.left < self.price:
            return dict(totals)
        self.left -= self.price
        return {a: x + self.rng.laplace(0.0, 1.0 / self.price) for a, x in totals.items()}


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    budget = Budget(EPSILON, LOOKS, rng)
    totals = dict.fromkeys(range(n_arms), 0.0)
    arms = []
    while len(arms) < horizon:
        for arm in totals:
            for _ in range(PROBES):
                if len(arms) < horizon:
                    totals[arm] += float(rewards[len(arms), arm])
                    arms.append(arm)
        view = budget.look(totals)
        arms += [max(view, key=view.get)] * min(RUN, horizon - len(arms))
    return arms
