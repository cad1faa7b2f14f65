"""Forgets by blocks: keeps the noisy sums of the last three blocks; written as a generator.

Right. A block of rewards is closed once, with one Laplace draw of scale 1 / epsilon for each arm; one
reward is in one sum of one block. The noisy sums are kept for three blocks, which costs nothing more.
"""

from collections import deque

import numpy as np


def bandit(n_arms, horizon, rng, epsilon=0.7, block=6):
    memory = deque([np.zeros(n_arms)], maxlen=3)
    counts = deque([np.ones(n_arms)], maxlen=3)
    t = 0
    while t < horizon:
        sums, pulls = np.zeros(n_arms), np.zeros(n_arms)
        score = sum(memory) / np.maximum(sum(counts), 1)
        for i in range(block):
            arm = i % n_arms if i < n_arms else int(np.argmax(score))
            reward = yield arm
            sums[arm] += reward
            pulls[arm] += 1
            t += 1
        memory.append(sums + rng.laplace(0, 1 / epsilon, n_arms))
        counts.append(pulls)
