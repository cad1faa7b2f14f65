"""Explore-then-commit over brokers on noisy average fills.

Claim: EPSILON-DP for the action sequence, one reward in [0, 1] changed.
Fault: the noise is scaled by all trials seen (n_arms * TRIALS), but an average has only TRIALS of them;
with three arms the commit spends nearly 3 * EPSILON.
Pair: 3 arms, 40 rounds; broker 0 fills 0 always, the others 0.5 always; right input: the first reward of
broker 0 is 1.  Event: the desk commits to broker 0 (action in round 12).
Probability 0.00623 (left) against 0.04977 (right): loss 2.078 = 2.97 * EPSILON.
"""
from collections import deque
from statistics import fmean

EPSILON = 0.7
TRIALS = 4


class CommitDesk:
    def __init__(self, n_arms, rng):
        self.rng = rng
        self.fills = [[] for _ in range(n_arms)]
        self.queue = deque(list(range(n_arms)) * TRIALS)
        self.seen = 0
        self.choice = None

    def select(self):
        return self.queue[0] if self.queue else self.choice

    def update(self, arm, reward):
        if not self.queue:
            return
        self.queue.popleft()
        self.fills[arm].append(float(reward))
        self.seen += 1
        if not self.queue:
            self.choice = self._commit()

    def _commit(self):
        scale = 1.0 / (EPSILON * self.seen)
        noisy = [fmean(history) + self.rng.laplace(0.0, scale) for history in self.fills]
        return noisy.index(max(noisy))
