"""Win-stay / lose-shift on permanently randomised rewards.

As in RAPPOR the noisy answer to a value is memoised, so that asking again for
the same value cannot average the noise out.  Rewards are read to two decimals,
noise is Laplace(1/epsilon).  Claim: epsilon-DP (pure), default epsilon = 1.0.
"""
from functools import lru_cache


class StayOrShift:
    def __init__(self, n_arms=3, horizon=30, epsilon=1.0, rng=None):
        self.n_arms = n_arms
        self.arm = 0
        self.last = None
        scale = 1.0 / epsilon

        @lru_cache(maxsize=None)
        def respond(cents):
            return cents / 100.0 + rng.laplace(0.0, scale)

        self.respond = respond

    def act(self):
        return self.arm

    def observe(self, arm, reward):
        answer = self.respond(int(round(100 * reward)))
        got_worse = self.last is not None and answer < self.last
        self.last = answer
        if got_worse:
            self.arm = (arm + 1) % self.n_arms
            self.last = None
