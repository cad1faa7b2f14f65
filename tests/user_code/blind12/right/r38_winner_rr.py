"""Weekly winner under k-ary randomised response, epsilon = 1.4 (pure).

A week is a probe of every arm (twice each, in a random public order) followed by
serving rounds.  The winner of the probe is found exactly, but leaves the probe only
through K-ary randomised response; serving plays the plurality of the released
winners (latest release wins a tie).  Serving rewards are not used and probes are
disjoint, so each reward is in one randomised response.
"""
from collections import Counter
from dataclasses import dataclass, field
from math import exp
from typing import Any


@dataclass
class WeeklyWinner:
    n_arms: int = 4
    horizon: int = 48
    epsilon: float = 1.4
    rng: Any = None
    probes: int = 2
    serve: int = 4
    released: list = field(default_factory=list)
    queue: list = field(default_factory=list)
    tally: dict = field(default_factory=dict)
    probing: bool = False

    def _start_week(self):
        order = [int(a) for a in self.rng.permutation(self.n_arms)]
        self.queue = order * self.probes
        self.tally = {a: 0.0 for a in range(self.n_arms)}
        self.probing = True

    def _release(self):
        winner = max(self.tally, key=lambda a: (self.tally[a], -a))
        keep = exp(self.epsilon) / (exp(self.epsilon) + self.n_arms - 1)
        if self.rng.random() >= keep:
            winner = (winner + 1 + int(self.rng.integers(self.n_arms - 1))) % self.n_arms
        self.released.append(winner)
        self.tally = {}

    def _favourite(self):
        votes = Counter(self.released)
        top = max(votes.values())
        return next(a for a in reversed(self.released) if votes[a] == top)

    def choose(self):
        if not self.queue:
            self._start_week()
        return self.queue[0]

    def learn(self, arm, reward):
        self.queue.pop(0)
        if self.probing:
            self.tally[arm] += float(reward)
            if not self.queue:
                self._release()
                self.queue = [self._favourite()] * self.serve
                self.probing = False
