"""Fleet-wide simulation of a UCB policy on binary-counter sums (Chan, Shi, Song).

play_many(rewards, n_runs, rng): each run keeps one streaming counter per arm; an arm that is not
played in a round feeds a zero.  One reward is contained in at most one p-sum per level, there are
T.bit_length() levels, and each p-sum carries Laplace noise of scale levels / epsilon.
Claims epsilon = 3.0 for one reward of one round.
"""
import numpy as np

EPSILON = 3.0
BONUS = 1.0


class BatchCounter:
    """n_runs x K streaming counters with shared clock."""

    def __init__(self, shape, horizon, epsilon, rng):
        self.levels = int(horizon).bit_length()
        self.scale = self.levels / epsilon
        self.exact = np.zeros(shape + (self.levels,))
        self.noisy = np.zeros(shape + (self.levels,))
        self.rng = rng
        self.clock = 0

    def push(self, values):
        self.clock += 1
        low = (self.clock & -self.clock).bit_length() - 1
        self.exact[..., low] = self.exact[..., :low].sum(axis=-1) + values
        self.exact[..., :low] = 0.0
        self.noisy[..., :low] = 0.0
        self.noisy[..., low] = self.exact[..., low] + self.rng.laplace(0.0, self.scale, size=values.shape)

    def read(self):
        mask = (self.clock >> np.arange(self.levels)) & 1
        return (self.noisy * mask).sum(axis=-1)


def play_many(rewards, n_runs, rng):
    horizon, n_arms = rewards.shape
    runs = np.arange(n_runs)
    counter = BatchCounter((n_runs, n_arms), horizon, EPSILON, rng)
    pulls = np.zeros((n_runs, n_arms))
    out = np.empty((n_runs, horizon), dtype=int)
    for t in range(horizon):
        if t < n_arms:
            arm = np.full(n_runs, t)
        else:
            index = counter.read() / pulls + BONUS * np.sqrt(np.log(t + 1.0) / pulls)
            arm = index.argmax(axis=1)
        out[:, t] = arm
        step = np.zeros((n_runs, n_arms))
        step[runs, arm] = np.clip(rewards[t, arm], 0.0, 1.0)
        counter.push(step)
        pulls[runs, arm] += 1
    return out
