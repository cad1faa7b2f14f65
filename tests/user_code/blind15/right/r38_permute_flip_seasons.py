"""Seasons of trials and a champion, chosen by permute-and-flip.

K = 4, horizon 40, claimed epsilon = 2.0 (pure).  A season has 12 trial rounds (3 per arm) and 8
champion rounds.  The champion is found by permute-and-flip on the trial sums of this season:
visit the arms in random order, accept arm a with probability exp(eps * (s_a - max s)).
Only one sum depends on a reward, so the rate is eps and not eps / 2 (equivalently: noisy max
with exponential noise).  Rewards of champion rounds are ignored.
"""
import math

TRIALS, CHAMPION_ROUNDS = 3, 8


class Seasons:
    def __init__(self, n_arms=4, horizon=40, epsilon=2.0, rng=None):
        self.k, self.eps, self.rng = n_arms, epsilon, rng
        self.horizon = horizon
        self._open_season()

    def _open_season(self):
        self.sums = [0.0] * self.k
        self.queue = [a for _ in range(TRIALS) for a in range(self.k)]
        self.champion = None
        self.phase = ("trial", len(self.queue))

    def _permute_and_flip(self):
        top = max(self.sums)
        for a in self.rng.permutation(self.k):
            if self.rng.random() < math.exp(self.eps * (self.sums[a] - top)):
                return int(a)
        raise AssertionError("the best arm always accepts")

    def act(self):
        match self.phase:
            case ("trial", left):
                return self.queue[-left]
            case ("champion", _):
                return self.champion

    def observe(self, arm, reward):
        match self.phase:
            case ("trial", 1):
                self.sums[arm] += reward
                self.champion = self._permute_and_flip()
                self.phase = ("champion", CHAMPION_ROUNDS)
            case ("trial", left):
                self.sums[arm] += reward
                self.phase = ("trial", left - 1)
            case ("champion", 1):
                self._open_season()
            case ("champion", left):
                self.phase = ("champion", left - 1)
