"""Private greedy bandit that rests an arm for two rounds after a complete failure.

Released scores carry proper Laplace noise.

Flaw: update() looks at the raw reward to start the rest. Pair: rewards 1/2 everywhere, against 0 for arm 0 in round 0 (first two
rounds try the arms in turn, so arm 0 is played in round 0; the rest lasts over rounds 1 to 3). Event: arm 0 is played in
round 2 or 3. After a zero this is impossible; without it, it happens with positive chance (greedy choice with
random exploration in a quarter of the rounds). Infinite.
"""

import numpy as np

EPSILON = 1.0


class CooldownBandit:
    def __init__(self):
        self.scores, self.buffers, self.rest_until = {}, {}, {}
        self.now = 0

    def select(self, t, arms, rng):
        self.now = t
        allowed = [a for a in arms if self.rest_until.get(a, -1) < t] or list(arms)
        fresh = [a for a in allowed if a not in self.buffers]
        if fresh:
            return fresh[0]
        if rng.random() < 0.25:
            return allowed[int(rng.integers(len(allowed)))]
        return max(allowed, key=lambda a: self.scores.get(a, 0.0))

    def update(self, arm, reward, rng):
        buf = self.buffers.setdefault(arm, [])
        buf.append(reward)
        if reward < 0.05:
            self.rest_until[arm] = self.now + 3
        if len(buf) == 5:
            self.scores[arm] = self.scores.get(arm, 0.0) + sum(buf) + rng.laplace(0, 1 / EPSILON)
            self.buffers[arm] = []
