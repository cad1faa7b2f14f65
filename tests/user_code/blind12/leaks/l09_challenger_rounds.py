"""Greedy play on perturbed rewards with scheduled challenger rounds.

The leader is the arm with the best mean of perturbed rewards (Laplace, scale 1 / EPS, one
draw per reward).  Every tenth round is a challenger round: the most promising of the
other arms is given a pull.  Claim: epsilon-DP, EPS = 1.0.
"""
from dataclasses import dataclass

EPS = 1.0
EVERY = 10


@dataclass
class Record:
    n: int = 0
    seen: float = 0.0
    best: float = 0.0

    def add(self, reward, noise):
        self.n += 1
        self.seen += reward + noise
        self.best = max(self.best, reward)

    @property
    def mean(self):
        return self.seen / self.n

    @property
    def promise(self):
        return self.best - 0.01 * self.n


def play(rewards, rng):
    horizon, k = rewards.shape
    book = [Record() for _ in range(k)]
    actions = []
    for t in range(horizon):
        if t < k:
            arm = t
        else:
            arm = max(range(k), key=lambda a: book[a].mean)
            if t % EVERY == EVERY - 1:
                others = [a for a in range(k) if a != arm]
                arm = max(others, key=lambda a: book[a].promise)
        book[arm].add(rewards[t, arm], rng.laplace(0.0, 1.0 / EPS))
        actions.append(arm)
    return actions
