"""Beta Thompson sampling that knows only noisy success totals.

Privacy. After every 2 K + 2 rounds the sums of the batch are released with Laplace(1 / eps) noise; each reward is
in one batch and one sum. Clipping the released total to [0, n] and sampling from Beta posteriors, as
often as one likes, is post-processing of the releases and of the public numbers of pulls.
"""

import numpy as np

EPSILON = 1.0


class NoisyPosterior:
    def __init__(self, n_arms, rng):
        self.released = np.zeros(n_arms)
        self.n = np.zeros(n_arms)
        self.batch = np.zeros(n_arms)
        self.batch_n = np.zeros(n_arms)
        self.rng = rng

    def sample(self):
        s = np.clip(self.released, 0, self.n)
        return int(np.argmax(self.rng.beta(1 + s, 1 + self.n - s)))

    def observe(self, a, r):
        self.batch[a] += r
        self.batch_n[a] += 1

    def flush(self):
        self.released += self.batch + self.rng.laplace(scale=1 / EPSILON, size=len(self.batch))
        self.n += self.batch_n
        self.batch = np.zeros_like(self.batch)
        self.batch_n = np.zeros_like(self.batch_n)


def play(rewards, rng):
    T, K = rewards.shape
    post = NoisyPosterior(K, rng)
    actions = np.empty(T, dtype=int)
    for t in range(T):
        actions[t] = post.sample()
        post.observe(actions[t], rewards[t, actions[t]])
        if (t + 1) % (2 * K + 2) == 0:
            post.flush()
    return actions
